/** Blocks from a publisher to a replica, each a process of its own. */
import {setTimeout as sleep} from "node:timers/promises";
import type {FeedStream} from "../../sync/feed/feedStream.ts";
import {waitForProof} from "../follow/followingService.ts";
import type {ServerProcess} from "../served/serverProcess.ts";

const LOOK_MS = 10;
const STALL_MS = 60_000;
/** Blocks of the measured time before it begins: block 0 is some megabytes, and code is compiled. */
const WARM_BLOCKS = 50;
const NO_BLOCK = -1;

export interface Throughput {
  readonly blocksPerSecond: number;
  /** Processor time a block of each process, in the order in which they were given. */
  readonly cpuMs: readonly number[];
}

/** @returns the newest block that came through; -1: none yet */
type ReadBlock = () => Promise<number>;

/**
 * Measures while blocks come through, up to `last`.
 *
 * @param processes - whose processor time is taken
 * @throws Error if no block comes for STALL_MS
 */
export async function measureThroughput(
  read: ReadBlock,
  last: number,
  processes: readonly ServerProcess[],
): Promise<Throughput> {
  const first = await waitForBlock(read, WARM_BLOCKS);
  const startMs = performance.now();
  const before = processes.map(one => one.readCpuMs());
  const count = (await waitForBlock(read, last)) - first;
  return {
    blocksPerSecond: (count * 1000) / (performance.now() - startMs),
    cpuMs: processes.map((one, at) => (one.readCpuMs() - (before[at] as number)) / count),
  };
}

/** The newest block that a replica holds. An error until the first one is. */
export async function readHeld(replica: ServerProcess): Promise<number> {
  return Number(await replica.call("eth_blockNumber").catch(() => NO_BLOCK));
}

/** The newest block of a stream, also of one whose publisher has not caught up. */
export async function readPublished(stream: FeedStream): Promise<number> {
  return (await stream.lastBlock())?.message.number ?? NO_BLOCK;
}

/** @returns the newest block, which is `least` or a later one */
async function waitForBlock(read: ReadBlock, least: number): Promise<number> {
  let [newest, sinceMs] = [NO_BLOCK, performance.now()];
  for (;;) {
    const now = await read();
    if (now >= least) return now;
    if (now > newest) [newest, sinceMs] = [now, performance.now()];
    if (performance.now() - sinceMs > STALL_MS)
      throw new Error(`block ${newest} came, and ${least} is waited for: none came for ${STALL_MS} ms`);
    await sleep(LOOK_MS);
  }
}

/**
 * Gives blocks to a publisher, one after the other, each finalized, and asks both for the proof at once.
 *
 * @param blocks - lines of --diffs, from block `first` on
 * @returns milliseconds from the publisher's proof to that of the replica, 0 if the replica's came first
 */
export async function measureDelays(
  publisher: ServerProcess,
  replica: ServerProcess,
  address: string,
  first: number,
  blocks: readonly string[],
): Promise<number[]> {
  const delays: number[] = [];
  for (const [at, block] of blocks.entries()) {
    const [here, there] = [publisher, replica].map(async server => {
      await waitForProof(server, address, first + at);
      return performance.now();
    });
    publisher.write(block);
    const [hereMs, thereMs] = await Promise.all([here, there]);
    delays.push(Math.max(0, (thereMs as number) - (hereMs as number)));
  }
  return delays;
}
