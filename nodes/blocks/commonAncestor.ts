/** Finds the newest block that a node's chain and the held chain have in common. */
import {toHex} from "../../storage/hex.ts";
import {readNamedBlock} from "../rpc/namedBlock.ts";
import type {Node} from "../rpc/node.ts";

/** The node's chain differs from the held one at a block that must stay. */
export class DeepFork extends Error {
  override readonly name = "DeepFork";
}

/** The chain that is held here. */
interface HeldChain {
  /** 32 bytes. Called for blocks from `floor` to the one that the search begins at. */
  hashOf(block: number): Uint8Array;
  /** The newest block that must stay: finalized, or block 0. */
  readonly floor: number;
  /** Why it must stay, as the end of a sentence: "is finalized". */
  readonly why: string;
}

/**
 * Goes down from `from` in steps that double, then halves the distance: about 2 log2(depth) calls.
 *
 * @param from - a block that is held here, at or above `held.floor` and not above the node's newest one
 * @returns the newest block up to `from` that both chains have
 * @throws DeepFork naming both hashes if they differ at `held.floor`; NodeRefusal; NodeFailure, also if the node has no
 *   such block
 */
export async function findCommonAncestor(node: Node, held: HeldChain, from: number): Promise<number> {
  const {floor} = held;
  const isShared = async (block: number): Promise<boolean> =>
    Buffer.compare(await readHash(node, block), held.hashOf(block)) === 0;
  if (await isShared(from)) return from;
  /** Not shared. */
  let above = from;
  let below = from;
  for (let step = 1; ; step *= 2) {
    if (below === floor) throw await describeFork(node, held);
    below = Math.max(floor, from - step);
    if (await isShared(below)) break;
    above = below;
  }
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2);
    if (await isShared(middle)) below = middle;
    else above = middle;
  }
  return below;
}

async function describeFork(node: Node, {floor, hashOf, why}: HeldChain): Promise<DeepFork> {
  const theirs = toHex(await readHash(node, floor));
  return new DeepFork(
    `the node ${node.name} is on another chain: its block ${floor} is ${theirs}, ours is ${toHex(hashOf(floor))} and ${why}`,
  );
}

/** A missing block does not mean a fork: behind one URL there may be several machines, and this one may be behind. */
async function readHash(node: Node, block: number): Promise<Uint8Array> {
  const lack = `it has no block ${block}, although it had a newer one just now`;
  return (await readNamedBlock(node, block, lack)).hash;
}
