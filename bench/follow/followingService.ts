/** A service that follows the bench's node. */
import {setTimeout as sleep} from "node:timers/promises";
import {type ServerProcess, startProofd} from "../served/serverProcess.ts";
import type {ChainNode} from "./chainNode.ts";

const LOOK_MS = 20;
const STALL_MS = 60_000;
/** Longer than any proof takes to arrive. */
const WAIT_MS = 30_000;
const PROOF_LOOK_MS = 1;

export interface Follower {
  readonly db: string;
  readonly suite: string;
  readonly node: ChainNode;
}

/** Runs `work` with a service that has caught up with the node. The service ends, and its store stays. */
export async function withService<T>(
  {db, suite, node}: Follower,
  flags: readonly string[],
  work: (proofd: ServerProcess) => Promise<T>,
): Promise<T> {
  const {host} = node.server.url;
  const proofd = await startProofd(db, [
    // Estimates are not asked for, and their threads take two fifths of a start.
    ...["--no-estimate", "--suite", suite],
    ...["--l2", `http://${host},ws://${host}`, "--genesis", node.genesisPath],
    ...flags,
  ]);
  try {
    await waitUntilHeld(proofd, Number(await node.server.call("eth_blockNumber")));
    return await work(proofd);
  } finally {
    await proofd.stop();
  }
}

/** @throws Error if no block comes for STALL_MS */
export async function waitUntilHeld(proofd: ServerProcess, block: number): Promise<void> {
  let held = -1;
  let sinceMs = performance.now();
  while (held < block) {
    // An error until the first block is held.
    const latest = await proofd.call("eth_blockNumber").catch(() => "-1");
    const now = Number(latest);
    if (now > held) sinceMs = performance.now();
    else if (performance.now() - sinceMs > STALL_MS)
      throw new Error(
        `proofd holds block ${held} and waits for block ${block}: none came for ${STALL_MS} ms`,
      );
    else await sleep(LOOK_MS);
    held = now;
  }
}

/** Returns when the service proves the block. @throws Error if it does not in half a minute */
export async function waitForProof(proofd: ServerProcess, address: string, block: number): Promise<void> {
  for (const startMs = performance.now(); ; await sleep(PROOF_LOOK_MS)) {
    const {finalized} = (await proofd.call("chain_getCoverage")) as {finalized: string | null};
    if (Number(finalized ?? -1) >= block) break;
    if (performance.now() - startMs > WAIT_MS) throw new Error(`block ${block} is not provable`);
  }
  await proofd.call("chain_getProof", [address, [], `0x${block.toString(16)}`]);
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
  const arrival = waitForProof(proofd, address, block).then(() => performance.now());
  // If the event fails, its error is the one to show.
  arrival.catch(() => {});
  await event();
  const startMs = performance.now();
  return Math.max(0, (await arrival) - startMs);
}

interface Arrivals {
  /** An account of the chain. */
  readonly address: string;
  readonly count: number;
  /** From one proof to the next block. Default: 0. */
  readonly pauseMs?: number;
  /** Of the service. */
  readonly flags?: readonly string[];
}

/** Every block is finalized as it comes, so its proof can be served at once. @returns milliseconds from a new block to its proof */
export function measureBlocks(
  follower: Follower,
  {address, count, pauseMs = 0, flags = []}: Arrivals,
): Promise<number[]> {
  const {node} = follower;
  return withService(follower, ["--finalized", "last", ...flags], async proofd => {
    const times: number[] = [];
    for (let i = 0; i < count; i++) {
      const next = Number(await node.server.call("eth_blockNumber")) + 1;
      const event = async () => void (await node.mine());
      times.push(await measureArrival(proofd, address, next, event));
      await sleep(pauseMs);
    }
    return times;
  });
}
