/** The way from a leaf up to the sub-root: 40 siblings, many of them empty sub-trees. */
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
  /** Of the sibling: 39 below the sub-root, 0 beside the leaf. */
  readonly height: number;
  /** Where the sibling lies. */
  readonly side: "left" | "right";
  readonly isEmpty: boolean;
  readonly sibling: string;
  /** The hash of this node of the path, beside the sibling. */
  readonly node: string;
}

export interface LeafPath {
  /** From the top down. */
  readonly steps: readonly PathStep[];
  /** What the path folds to. */
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
