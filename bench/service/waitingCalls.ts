/** 10 000 calls of chain_waitForProof that wait for one block: what they cost while they wait, and when it is finalized. */
import {createHash} from "node:crypto";
import {connect, type Socket} from "node:net";
import {sendOrder} from "../../server/control/controlClient.ts";
import {numberedAddress} from "../load/requests/keys.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {sleep, warmUp} from "./watch.ts";

const CALLS = 10_000;
/** Connections that are opened and sent to at the same time. */
const AT_ONCE = 200;
const LOOK_MS = 50;
/** Time for the memory of the requests' bodies to be freed. */
const SETTLE_MS = 2000;
const TIMEOUT_MS = 60_000;

export async function measureWaiting(bench: ServiceBench): Promise<Finding[]> {
  return [...(await measureCalls(bench, 1)), ...(await measureCalls(bench, 1000))];
}

/** @param batch - calls of each request. Each request has a connection of its own */
async function measureCalls(bench: ServiceBench, batch: number): Promise<Finding[]> {
  const server = await bench.startServer(["--diffs", "-"]);
  try {
    await warmUp(server, bench);
    const block = (await readLatest(server)) + 1;
    server.write(writeBlock(block));
    while ((await readLatest(server)) < block) await sleep(LOOK_MS);
    await sleep(SETTLE_MS);
    const idleCpu = await measureCpu(server, bench);
    const before = server.readMemory()?.anonymous ?? Number.NaN;
    const count = CALLS / batch;
    const waiters = await startAll(server, count, at => writeCalls(bench, batch, at * batch, block));
    while ((await readWaiting(server)) < CALLS) await sleep(LOOK_MS);
    await sleep(SETTLE_MS);
    const after = server.readMemory()?.anonymous ?? Number.NaN;
    const cpu = await measureCpu(server, bench);
    const startCpuMs = server.readCpuMs() ?? Number.NaN;
    const startMs = performance.now();
    const order = await sendOrder(bench.directory, {kind: "finalize", to: block});
    if (!order.ok) throw new Error(order.message);
    const orderMs = performance.now() - startMs;
    const times = await Promise.all(waiters.map(waiter => waiter.answered));
    const cpuMs = (server.readCpuMs() ?? Number.NaN) - startCpuMs;
    const what = batch === 1 ? "of one request each" : `in batches of ${batch}`;
    return [
      {
        figure: `${CALLS} waiting calls ${what}: memory per call`,
        value: (after - before) / CALLS,
        unit: "bytes",
      },
      {figure: "... server CPU per second while they wait", value: cpu, unit: "ms"},
      {figure: "... server CPU per second without them", value: idleCpu, unit: "ms"},
      {figure: "... from the order to finalize to its answer", value: orderMs, unit: "ms"},
      {
        figure: "... from the order to the first answer's end",
        value: Math.min(...times) - startMs,
        unit: "ms",
      },
      {
        figure: "... from the order to the last answer's end",
        value: Math.max(...times) - startMs,
        unit: "ms",
      },
      {figure: "... server CPU for all answers", value: cpuMs, unit: "ms"},
    ];
  } finally {
    await server.stop();
  }
}

/** @returns milliseconds of CPU time per second */
async function measureCpu(server: ServerProcess, {durationSeconds}: ServiceBench): Promise<number> {
  const before = server.readCpuMs() ?? Number.NaN;
  const startMs = performance.now();
  await sleep(durationSeconds * 1000);
  const seconds = (performance.now() - startMs) / 1000;
  return ((server.readCpuMs() ?? Number.NaN) - before) / seconds;
}

async function readLatest(server: ServerProcess): Promise<number> {
  const {latest} = (await server.call("chain_getCoverage")) as {latest: string};
  return Number(latest);
}

async function readWaiting(server: ServerProcess): Promise<number> {
  const text = await (await fetch(new URL("/metrics", server.url))).text();
  return Number(/^proofd_waiting_calls (\d+)$/m.exec(text)?.[1]);
}

/** The line of a block without changes that is not finalized. */
function writeBlock(number: number): string {
  const hash = createHash("sha256").update(`waited for ${number}`).digest("hex");
  const timestamp = `0x${(1_700_000_000 + number).toString(16)}`;
  return `{"number":"0x${number.toString(16)}","hash":"0x${hash}","timestamp":"${timestamp}","gasLimit":"0x3938700","accounts":{}}\n`;
}

function writeCalls({accounts}: ServiceBench, count: number, first: number, block: number): string {
  const calls = Array.from({length: count}, (_, at) => ({
    jsonrpc: "2.0",
    id: at,
    method: "chain_waitForProof",
    params: [
      `0x${numberedAddress(((first + at) * 7919) % accounts)}`,
      [],
      `0x${block.toString(16)}`,
      TIMEOUT_MS,
    ],
  }));
  return JSON.stringify(count === 1 ? calls[0] : calls);
}

async function startAll(
  server: ServerProcess,
  count: number,
  write: (at: number) => string,
): Promise<Waiter[]> {
  const waiters: Waiter[] = [];
  while (waiters.length < count) {
    const made = Math.min(AT_ONCE, count - waiters.length);
    const first = waiters.length;
    waiters.push(
      ...(await Promise.all(Array.from({length: made}, (_, at) => Waiter.start(server, write(first + at))))),
    );
  }
  return waiters;
}

/** A connection that asks once and reads the answer to its end. */
class Waiter {
  /** When the answer was complete, in milliseconds of performance.now(). Rejects if it is not a result. */
  readonly answered: Promise<number>;

  /** @returns the waiter, after it has sent its request */
  static async start({url}: ServerProcess, body: string): Promise<Waiter> {
    const socket = connect({host: url.hostname, port: Number(url.port)});
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const waiter = new Waiter(socket);
    // The server closes the connection after the answer, so the answer's end is easy to see.
    const head = `POST / HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new Promise<void>(resolve => socket.write(head + body, () => resolve()));
    return waiter;
  }

  private constructor(socket: Socket) {
    this.answered = new Promise((resolve, reject) => {
      let start = "";
      socket.on("data", chunk => {
        if (start.length < 500) start += chunk.toString("latin1", 0, 500);
      });
      socket.once("error", reject);
      socket.once("close", () => {
        if (start.startsWith("HTTP/1.1 200 ") && start.includes(`"result":`)) resolve(performance.now());
        else reject(new Error(`a waiting call was not answered with a result: ${start}`));
      });
    });
    this.answered.catch(() => {}); // the caller that waits for it gets the error
  }
}
