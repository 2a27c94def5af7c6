/** How soon what happens on a chain shows in proofd's answers. */
import type {ServerProcess} from "../served/serverProcess.ts";

/** Longer than any arrival. */
const WAIT_MS = 30_000;

export interface Arrivals {
  readonly count: number;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
}

/**
 * Waits for the proof of a block that is not provable yet, makes the block provable, and takes the time from then on.
 *
 * @param event - returns when the node has the block, or layer 1 the event
 * @returns milliseconds until the proof is here
 */
export async function measureArrival(
  proofd: ServerProcess,
  address: string,
  block: number,
  event: () => Promise<void>,
): Promise<number> {
  const params = [address, [], `0x${block.toString(16)}`, WAIT_MS];
  const arrival = proofd.call("chain_waitForProof", params).then(() => performance.now());
  // If the event fails, its error is the one to show.
  arrival.catch(() => {});
  await event();
  const startMs = performance.now();
  return Math.max(0, (await arrival) - startMs);
}

/** @param times - milliseconds, at least one */
export function summarize(times: readonly number[]): Arrivals {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)] as number;
  return {count: sorted.length, median: at(0.5), p99: at(0.99)};
}
