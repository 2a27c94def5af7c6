/** Finds the common ancestor of a node's chain and the local chain. */
import {toHex} from "../../storage/hex.ts";
import {readNamedBlock} from "../rpc/namedBlock.ts";
import type {Node} from "../rpc/node.ts";

/** The node's chain differs from the local chain at a block that must not be removed. */
export class DeepFork extends Error {
  override readonly name = "DeepFork";
}

/** The stored chain. */
interface LocalChain {
  /** 32 bytes. Called for blocks from `floor` to the start of the search. */
  hashOf(block: number): Uint8Array;
  /** The newest block that must not be removed: finalized, or block 0. */
  readonly floor: number;
  /** Why not, as the end of a sentence: "is finalized". */
  readonly why: string;
}

/**
 * Goes down from `from` in doubling steps, then bisects: about 2 log2(depth) calls.
 *
 * @param from - a stored block, from `local.floor` to the node's newest block
 * @returns the newest block up to `from` that both chains have
 * @throws DeepFork naming both hashes if they differ at `local.floor`; NodeRefusal; NodeFailure, also if the node has
 *   no such block
 */
export async function findCommonAncestor(node: Node, local: LocalChain, from: number): Promise<number> {
  const {floor} = local;
  const isShared = async (block: number): Promise<boolean> =>
    Buffer.compare(await readHash(node, block), local.hashOf(block)) === 0;
  if (await isShared(from)) return from;
  /** Not shared. */
  let above = from;
  let below = from;
  for (let step = 1; ; step *= 2) {
    if (below === floor) throw await describeFork(node, local);
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

async function describeFork(node: Node, {floor, hashOf, why}: LocalChain): Promise<DeepFork> {
  const theirs = toHex(await readHash(node, floor));
  return new DeepFork(
    `the node ${node.name} is on another chain: its block ${floor} is ${theirs}, ours is ${toHex(hashOf(floor))} and ${why}`,
  );
}

/** A missing block does not mean a fork: there may be several nodes behind one URL, and this one may lag. */
async function readHash(node: Node, block: number): Promise<Uint8Array> {
  const lack = `it has no block ${block}, although it had a newer one just now`;
  return (await readNamedBlock(node, block, lack)).hash;
}
