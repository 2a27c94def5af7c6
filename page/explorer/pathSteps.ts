/** The path from a leaf up to the sub-tree root: 40 siblings, many of them empty sub-trees. */
import {isEqual} from "../../client/bytes/byteString.ts";
import {encodeHex} from "../../client/bytes/hex.ts";
import type {OpenedLeaf} from "../../client/compact/openedPaths.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  zeroSubTrees,
} from "../../client/hash/hashSuites.ts";

export interface PathStep {
  /** Height of the sibling: 39 below the sub-tree root, 0 beside the leaf. */
  readonly height: number;
  readonly side: "left" | "right";
  readonly isEmpty: boolean;
  readonly sibling: string;
  /** Hash of the path's node at this height. */
  readonly node: string;
}

export interface LeafPath {
  /** From the top down. */
  readonly steps: readonly PathStep[];
  readonly root: string;
}

export function followPath(suite: HashSuite, leaf: OpenedLeaf, nextFreeNode: number): LeafPath {
  const zero = zeroSubTrees(suite);
  const steps: PathStep[] = [];
  let node = suite.hash(encodeLeafOpening(suite, leaf));
  let position = leaf.leafIndex;
  leaf.siblings.forEach((sibling, height) => {
    const isRight = position % 2 === 1;
    const isEmpty = isEqual(sibling, zero[height] as Uint8Array);
    steps.push({
      ...{height, side: isRight ? "left" : "right", isEmpty},
      ...{sibling: encodeHex(sibling), node: encodeHex(node)},
    });
    node = isRight ? suite.hashPair(sibling, node) : suite.hashPair(node, sibling);
    position = Math.floor(position / 2);
  });
  return {steps: steps.reverse(), root: encodeHex(suite.hash(encodeRootNode(suite, nextFreeNode, node)))};
}
