/** Trees that no sequence of operations can make: any leaves at any positions, any nextFreeNode, hashed as they are. */

import {encodeHex} from "../../../client/bytes/hex.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  type LeafOpening,
  zeroSubTrees,
} from "../../../client/hash/hashSuites.ts";
import type {LeafProof} from "./referenceTree.ts";

const DEPTH = 40;

export interface ForgedLeaf extends LeafOpening {
  readonly value: Uint8Array;
}

export interface ForgedTree {
  /** 32 bytes. */
  readonly root: Uint8Array;
  proveLeaf(leafIndex: number): LeafProof;
}

export function forgeTree(
  suite: HashSuite,
  nextFreeNode: number,
  leaves: Readonly<Record<number, ForgedLeaf>>,
): ForgedTree {
  const zero = zeroSubTrees(suite);
  const indexes = Object.keys(leaves).map(Number);
  const openLeaf = (i: number) => {
    const leaf = leaves[i];
    return leaf === undefined ? undefined : encodeLeafOpening(suite, leaf);
  };
  /** What the node at this place is the hash of. */
  const preImage = (height: number, i: number): Uint8Array => {
    if (height === 0) return openLeaf(i) ?? (zero[0] as Uint8Array);
    return Buffer.concat([node(height - 1, 2 * i), node(height - 1, 2 * i + 1)]);
  };
  const node = (height: number, i: number): Uint8Array => {
    const isEmpty = !indexes.some(index => Math.floor(index / 2 ** height) === i);
    return isEmpty ? (zero[height] as Uint8Array) : suite.hash(preImage(height, i));
  };
  const rootNode = encodeRootNode(suite, nextFreeNode, node(DEPTH, 0));
  return {
    root: suite.hash(rootNode),
    proveLeaf: leafIndex => {
      const nodes = [rootNode];
      for (let height = DEPTH - 1; height >= 0; height--) {
        const own = Math.floor(leafIndex / 2 ** height);
        nodes.push(preImage(height, own % 2 === 0 ? own + 1 : own - 1));
      }
      nodes.push(preImage(0, leafIndex));
      return {
        value: encodeHex(leaves[leafIndex]?.value ?? new Uint8Array()),
        proofRelatedNodes: nodes.map(encodeHex),
      };
    },
  };
}
