/** How soon what happens on a chain shows in proofd's answers. */
import type {ServerProcess} from "../served/serverProcess.ts";
import type {FollowFigure} from "./catchUp.ts";

/** Longer than any arrival. */
const WAIT_MS = 30_000;

/**
 * Waits for the proof of a block that does not exist yet, makes the block provable, and takes the time from then on.
 *
 * @param event - makes `block` and returns when the node has it, or the event
 * @returns milliseconds until the proof is here
 */
export async function measureArrival(
  proofd: ServerProcess,
  address: string,
  block: number,
  event: () => Promise<void>,
): Promise<number> {
  const params = [address, [], `0x${block.toString(16)}`, WAIT_MS];
  let arrivedMs = 0;
  const arrival = proofd.call("chain_waitForProof", params).then(() => {
    arrivedMs = performance.now();
  });
  await event();
  const startMs = performance.now();
  await arrival;
  return Math.max(0, arrivedMs - startMs);
}

/** @param times - milliseconds. @param name - of what arrives */
export function summarize(name: string, times: readonly number[]): FollowFigure[] {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return [
    {name: `${name}, median of ${sorted.length}`, value: at(0.5), unit: "ms"},
    {name: `${name}, p99`, value: at(0.99), unit: "ms"},
  ];
}
