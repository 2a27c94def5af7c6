/** One client that asks for 200 MB and reads 5 MB a second: its cost for the server and for other clients. */
import {connect, type Socket} from "node:net";
import {numberedAddress} from "../load/requests/keys.ts";
import type {Memory, ServerProcess} from "../served/serverProcess.ts";
import type {Finding, ServiceBench} from "./finding.ts";
import {compareProofs, MB, MemoryWatch, sleep, warmUp} from "./watch.ts";

const BYTES_PER_SECOND = 5e6;
const TURNS_PER_SECOND = 20;
const CALLS = 1000;
/** Absent slots. Their proofs have 12 KB each. */
const SLOTS_PER_CALL = 16;
const MIN_BYTES = 190e6;

export async function measureSlowReader(bench: ServiceBench): Promise<Finding[]> {
  const server = await bench.startServer();
  try {
    await warmUp(server, bench);
    let before = Number.NaN;
    let memory: Memory = {rss: 0, anonymous: 0};
    let slowBytes = 0;
    let bytes = 0;
    let reader: SlowReader | undefined;
    let watch: MemoryWatch | undefined;
    const {beside, ratio} = await compareProofs(server, bench, {
      begin: async () => {
        before = server.readMemory()?.rss ?? Number.NaN;
        watch = new MemoryWatch(server);
        reader = await SlowReader.start(server, writeLargeBatch(bench.accounts));
      },
      end: async () => {
        if (watch === undefined || reader === undefined) throw new Error("it has not begun");
        memory = watch.stop();
        slowBytes = reader.bytes;
        reader.hurry();
        bytes = await reader.end;
      },
      passes: 1,
    });
    if (bytes < MIN_BYTES) throw new Error(`the slow reader got ${bytes} bytes`);
    return [
      {
        figure: `RSS while ${Math.round(bytes / MB)} MB go to a reader of 5 MB/s`,
        value: memory.rss / MB,
        unit: "MB",
      },
      {figure: "... more than before it", value: (memory.rss - before) / MB, unit: "MB"},
      {figure: "... bytes that the reader took meanwhile", value: slowBytes / MB, unit: "MB"},
      {figure: "... p99 of others' single proofs", value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
    ];
  } finally {
    await server.stop();
  }
}

/** A batch of 1 000 accounts with 16 absent slots each. */
function writeLargeBatch(accounts: number): string {
  const slots = Array.from({length: SLOTS_PER_CALL}, (_, i) => `0x${(i + 1000).toString(16)}`);
  const calls = Array.from({length: CALLS}, (_, id) => ({
    jsonrpc: "2.0",
    id,
    method: "chain_getProof",
    params: [`0x${numberedAddress((id * 7919) % accounts)}`, slots, "latest"],
  }));
  return JSON.stringify(calls);
}

class SlowReader {
  bytes = 0;
  /** Number of bytes including the HTTP head, once the whole answer has arrived. */
  readonly end: Promise<number>;
  private readonly socket: Socket;
  private readonly timer: NodeJS.Timeout;
  private allowance = 0;
  private isSlow = true;

  /** @returns the reader, after it has sent its request */
  static async start({url}: ServerProcess, body: string): Promise<SlowReader> {
    const socket = connect({host: url.hostname, port: Number(url.port)});
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const reader = new SlowReader(socket);
    const head = `POST / HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.write(head + body);
    await sleep(100);
    return reader;
  }

  private constructor(socket: Socket) {
    this.socket = socket;
    this.end = new Promise((resolve, reject) => {
      let tail = Buffer.alloc(0);
      socket.once("error", reject);
      socket.once("close", () => reject(new Error(`the slow reader was cut after ${this.bytes} bytes`)));
      socket.on("data", chunk => {
        this.bytes += chunk.length;
        this.allowance -= chunk.length;
        if (this.isSlow && this.allowance <= 0) socket.pause();
        // Looks for the last chunk of a chunked body.
        tail = Buffer.concat([tail, chunk.subarray(-8)]).subarray(-8);
        if (!tail.toString("latin1").endsWith("\r\n0\r\n\r\n")) return;
        clearInterval(this.timer);
        resolve(this.bytes);
        socket.destroy();
      });
    });
    this.end.catch(() => {}); // the caller that waits for `end` gets the error
    this.timer = setInterval(() => {
      this.allowance = Math.min(this.allowance, 0) + BYTES_PER_SECOND / TURNS_PER_SECOND;
      if (this.allowance > 0) socket.resume();
    }, 1000 / TURNS_PER_SECOND);
  }

  /** Reads the rest as fast as it comes. */
  hurry(): void {
    this.isSlow = false;
    this.socket.resume();
  }
}
