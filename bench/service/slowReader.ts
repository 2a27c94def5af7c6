/** One client that asks for 200 MB and reads 5 MB a second: its cost for the server and for other clients. */

import {once} from "node:events";
import {type IncomingMessage, request} from "node:http";
import {numberedAddress} from "proofd-load";
import type {ServerProcess} from "../served/serverProcess.ts";
import {
  compareProofs,
  type Finding,
  MB,
  MemoryWatch,
  type ServiceBench,
  warmUp,
  withServer,
} from "./serviceBench.ts";

const BYTES_PER_SECOND = 5e6;
const TURNS_PER_SECOND = 20;
const CALLS = 1000;
/** Absent slots. Their proofs have 12 KB each. */
const SLOTS_PER_CALL = 16;
const MIN_BYTES = 190e6;

export function measureSlowReader(bench: ServiceBench): Promise<Finding[]> {
  return withServer(bench, [], async server => {
    await warmUp(server, bench);
    let before = 0;
    let rss = 0;
    let slowBytes = 0;
    let bytes = 0;
    const {beside, ratio} = await compareProofs(server, bench, 1, async () => {
      before = server.readMemory().rss;
      const watch = new MemoryWatch(server);
      const reader = await SlowReader.start(server, writeLargeBatch(bench.accounts));
      return async () => {
        ({rss} = watch.stop());
        slowBytes = reader.bytes;
        await reader.hurry();
        bytes = reader.bytes;
      };
    });
    if (bytes < MIN_BYTES) throw new Error(`expected ${MIN_BYTES} bytes for the slow reader, got ${bytes}`);
    return [
      {
        figure: `RSS while ${Math.round(bytes / MB)} MB go to a reader of 5 MB/s`,
        value: rss / MB,
        unit: "MB",
      },
      {figure: "... more than before it", value: (rss - before) / MB, unit: "MB"},
      {figure: "... bytes that the reader took meanwhile", value: slowBytes / MB, unit: "MB"},
      {figure: "... p99 of others' single proofs", value: beside, unit: "ms"},
      {figure: "... ratio", value: ratio, unit: "x"},
    ];
  });
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
  /** Bytes of the answer that have arrived. */
  bytes = 0;
  private readonly end: Promise<unknown>;
  private readonly timer: NodeJS.Timeout;
  private allowance = 0;

  /** @returns the reader, when its answer has begun */
  static async start({url}: ServerProcess, body: string): Promise<SlowReader> {
    const headers = {"content-type": "application/json", "content-length": body.length};
    const asked = request(url, {method: "POST", headers, agent: false}).end(body);
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return new SlowReader(response);
  }

  private constructor(private readonly response: IncomingMessage) {
    this.end = once(response, "end");
    this.end.catch(() => {}); // the caller of `hurry` gets the error
    this.timer = setInterval(() => {
      this.allowance = Math.min(this.allowance, 0) + BYTES_PER_SECOND / TURNS_PER_SECOND;
      if (this.allowance > 0) response.resume();
    }, 1000 / TURNS_PER_SECOND);
    response.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      this.allowance -= chunk.length;
      if (this.allowance <= 0) response.pause();
    });
  }

  /** Reads the rest as fast as it comes. */
  async hurry(): Promise<void> {
    clearInterval(this.timer);
    this.allowance = Number.POSITIVE_INFINITY;
    this.response.resume();
    await this.end;
  }
}
