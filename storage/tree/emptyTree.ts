/**
 * What all trees of a suite have in common: the empty sub-trees, and the new tree with its two sentinel leaves.
 *
 *   z(0) = 32 zero bytes (an empty leaf, not hashed), z(h+1) = H(z(h), z(h))
 *
 *   new tree:  head (index 0: prev 0, next 1, hKey 0..0, hVal 0..0), tail (index 1: prev 0, next 1, hKey = tailHKey, hVal 0..0)
 */
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import type {Leaf} from "../page/leafPage.ts";

export interface EmptyTree {
  /** z(0) .. z(40). */
  readonly zeros: readonly Uint8Array[];
  /** The leaves of the new tree: the hashes of head and tail. */
  readonly leaves: readonly [Uint8Array, Uint8Array];
  readonly subRoot: Uint8Array;
  /** The storageRoot of an account without storage. */
  readonly topRoot: Uint8Array;
  /** codeHash of an account without code. */
  readonly codeHash: Uint8Array;
}

export const HEAD_INDEX = 0;
export const TAIL_INDEX = 1;
export const FIRST_FREE_NODE = 2;
export const ZERO_WORD: Uint8Array = new Uint8Array(WORD_BYTES);

const emptyTrees = new Map<string, EmptyTree>();

export function emptyTree(suite: HashSuite): EmptyTree {
  let tree = emptyTrees.get(suite.name);
  if (tree === undefined) {
    tree = buildEmptyTree(suite);
    emptyTrees.set(suite.name, tree);
  }
  return tree;
}

function buildEmptyTree(suite: HashSuite): EmptyTree {
  const zeros: Uint8Array[] = [ZERO_WORD];
  for (let height = 0; height < TREE_HEIGHT; height++) {
    const zero = zeros[height] as Uint8Array;
    zeros.push(hashPair(suite, zero, zero));
  }
  const sentinel = {prev: HEAD_INDEX, next: TAIL_INDEX, hVal: ZERO_WORD};
  const head = hashLeaf(suite, {...sentinel, hKey: ZERO_WORD});
  const tail = hashLeaf(suite, {...sentinel, hKey: suite.tailHKey});
  const subRoot = foldLeftSpine(suite, zeros, hashPair(suite, head, tail), 1);
  return {
    zeros,
    leaves: [head, tail],
    subRoot,
    topRoot: hashTopRoot(suite, FIRST_FREE_NODE, subRoot),
    codeHash: suite.hashCode(new Uint8Array(0)),
  };
}

/** The sub-root of a tree in which only the leftmost node at `height` is not empty. */
export function foldLeftSpine(
  suite: HashSuite,
  zeros: readonly Uint8Array[],
  node: Uint8Array,
  height: number,
): Uint8Array {
  const pair = new Uint8Array(2 * WORD_BYTES);
  const folded = new Uint8Array(node);
  for (let at = height; at < TREE_HEIGHT; at++) {
    pair.set(folded, 0);
    pair.set(zeros[at] as Uint8Array, WORD_BYTES);
    suite.hashPairsInto(pair, 1, folded);
  }
  return folded;
}

export function hashTopRoot(suite: HashSuite, nextFreeNode: number, subRoot: Uint8Array): Uint8Array {
  const rootNode = new Uint8Array(suite.rootNodeBytes);
  suite.encodeRootNodeInto(rootNode, 0, nextFreeNode, subRoot);
  return suite.hashNode(rootNode);
}

export function hashLeaf(suite: HashSuite, {prev, next, hKey, hVal}: Omit<Leaf, "value">): Uint8Array {
  const opening = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(opening, 0, prev, next, hKey, hVal);
  return suite.hashNode(opening);
}

export function hashPair(suite: HashSuite, left: Uint8Array, right: Uint8Array): Uint8Array {
  const pair = new Uint8Array(2 * WORD_BYTES);
  pair.set(left, 0);
  pair.set(right, WORD_BYTES);
  const out = new Uint8Array(WORD_BYTES);
  suite.hashPairsInto(pair, 1, out);
  return out;
}
