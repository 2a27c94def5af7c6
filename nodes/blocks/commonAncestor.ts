/** Finds the common ancestor of a node's chain and the local chain. */
import {toHex} from "../../storage/hex.ts";
import {readNamedBlock} from "../rpc/namedBlock.ts";
import type {Node} from "../rpc/node.ts";
import {SourceError} from "./sourceStep.ts";

interface LocalChain {
  /** 32 bytes. Called for blocks from `floor` to the start of the search. */
  hashOf(block: number): Uint8Array;
  /** The newest block that must not be removed: finalized, or block 0. */
  readonly floor: number;
  /** Why not, as the end of a sentence: "is finalized". */
  readonly why: string;
}

/**
 * Goes down in doubling steps, then bisects. @param from - a stored block, at most the node's newest
 *
 * @returns the newest block up to `from` that both chains have
 * @throws SourceError naming both hashes if they differ at `local.floor`; NodeRefusal; NodeFailure
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
    if (below === floor) {
      const theirs = toHex(await readHash(node, floor));
      throw new SourceError(
        `the node ${node.name} is on another chain: its block ${floor} is ${theirs}, ours is ${toHex(local.hashOf(floor))} and ${local.why}`,
      );
    }
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

/** A missing block does not mean a fork: there may be several nodes behind one URL, and this one may lag. */
async function readHash(node: Node, block: number): Promise<Uint8Array> {
  const lack = `it has no block ${block}, although it had a newer one just now`;
  return (await readNamedBlock(node, block, lack)).hash;
}
