/** 10 000 calls of chain_waitForProof that wait for one block: what they cost while they wait, and when it is finalized. */
import {setTimeout as sleep} from "node:timers/promises";
import {numberedAddress} from "proofd-load";
import {sendOrder} from "../../server/control/controlClient.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {type Finding, readLatest, type ServiceBench, warmUp, withServer, writeBlock} from "./serviceBench.ts";

const CALLS = 10_000;
/** Requests that are sent at the same time. */
const AT_ONCE = 200;
const LOOK_MS = 50;
/** Time for the memory of the requests' bodies to be freed. */
const SETTLE_MS = 2000;
const TIMEOUT_MS = 60_000;

export async function measureWaiting(bench: ServiceBench): Promise<Finding[]> {
  return [...(await measureCalls(bench, 1)), ...(await measureCalls(bench, 1000))];
}

/** @param batch - calls of each request. Each request has a connection of its own */
function measureCalls(bench: ServiceBench, batch: number): Promise<Finding[]> {
  return withServer(bench, ["--diffs", "-"], async server => {
    await warmUp(server, bench);
    const block = (await readLatest(server)) + 1;
    server.write(writeBlock(block, false, []));
    while ((await readLatest(server)) < block) await sleep(LOOK_MS);
    await sleep(SETTLE_MS);
    const idleCpu = await measureCpu(server, bench);
    const before = server.readMemory().anonymous;
    const answers: Promise<number>[] = [];
    while (answers.length * batch < CALLS) {
      for (let i = 0; i < AT_ONCE && answers.length * batch < CALLS; i++)
        answers.push(ask(server, writeCalls(bench, batch, answers.length * batch, block)));
      while ((await readWaiting(server)) < answers.length * batch) await sleep(LOOK_MS);
    }
    await sleep(SETTLE_MS);
    const after = server.readMemory().anonymous;
    const cpu = await measureCpu(server, bench);
    const startCpuMs = server.readCpuMs();
    const startMs = performance.now();
    const order = await sendOrder(bench.directory, {kind: "finalize", to: block});
    if (!order.ok) throw new Error(order.message);
    const lastMs = Math.max(...(await Promise.all(answers)));
    const what = batch === 1 ? "of one request each" : `in batches of ${batch}`;
    return [
      {
        figure: `${CALLS} waiting calls ${what}: memory per call`,
        value: (after - before) / CALLS,
        unit: "bytes",
      },
      {figure: "... server CPU per second while they wait", value: cpu, unit: "ms"},
      {figure: "... server CPU per second without them", value: idleCpu, unit: "ms"},
      {figure: "... server CPU for all answers", value: server.readCpuMs() - startCpuMs, unit: "ms"},
      {figure: "... from the order to finalize to the last answer", value: lastMs - startMs, unit: "ms"},
    ];
  });
}

/** @returns milliseconds of CPU time per second */
async function measureCpu(server: ServerProcess, {durationSeconds}: ServiceBench): Promise<number> {
  const before = server.readCpuMs();
  const startMs = performance.now();
  await sleep(durationSeconds * 1000);
  return (1000 * (server.readCpuMs() - before)) / (performance.now() - startMs);
}

async function readWaiting(server: ServerProcess): Promise<number> {
  const text = await (await fetch(new URL("/metrics", server.url))).text();
  return Number(/^proofd_waiting_calls (\d+)$/m.exec(text)?.[1]);
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

/** @returns when the answer was complete, in milliseconds of performance.now(). @throws Error if it is not a result */
function ask({url}: ServerProcess, body: string): Promise<number> {
  const answered = fetch(url, {method: "POST", headers: {"content-type": "application/json"}, body}).then(
    async response => {
      const text = await response.text();
      if (text.includes('"result":')) return performance.now();
      throw new Error(`a waiting call was not answered with a result: ${text.slice(0, 500)}`);
    },
  );
  answered.catch(() => {}); // the caller that waits for it gets the error
  return answered;
}
