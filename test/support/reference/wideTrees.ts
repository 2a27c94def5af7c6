/**
 * Account trees with a leaf at 2^height and empty positions before it, and proofs about PRESENT. No operations make them, but a
 * verifier cannot tell: small trees of every occupied height, where only trees of 2^height accounts would have it.
 *
 *   sub-root ... node 1 of `height`: the leaf at 2^height
 *                node 0 of `height`: head, tail and whatever else lies at the beginning
 */
import {sha256Suite, word} from "../../../client/hash/hashSuites.ts";
import {forgeTree} from "./forgedTree.ts";
import {HEAD, LEAF, PRESENT, TAIL} from "./forgeries.ts";
import type {ProofResult} from "./referenceState.ts";

interface WideProof {
  readonly root: Uint8Array;
  readonly answer: ProofResult;
}

const FAR = {...LEAF, hKey: word(2n ** 256n - 2n)};

/** PRESENT exists at position 2. Its path has the far leaf's sub-tree as a sibling. @param height - 2 to 39 */
export function proveBeside(height: number, nextFreeNode: number): WideProof {
  const leaves = {0: HEAD, 1: TAIL, 2: LEAF, [2 ** height]: FAR};
  const {root, proveLeaf} = forgeTree(sha256Suite, nextFreeNode, leaves);
  const accountProof = {key: PRESENT, leafIndex: 2, proof: proveLeaf(2)};
  return {root, answer: {accountProof, storageProofs: []}};
}

/** PRESENT is absent between the head and the far leaf, whose paths meet at `height`. @param height - 1 to 39 */
export function proveAcross(height: number): WideProof {
  const right = 2 ** height;
  const leaves = {0: {...HEAD, next: right}, 1: {...TAIL, prev: right}, [right]: FAR};
  const {root, proveLeaf} = forgeTree(sha256Suite, right + 1, leaves);
  const left = {leftLeafIndex: 0, leftProof: proveLeaf(0)};
  const accountProof = {key: PRESENT, ...left, rightLeafIndex: right, rightProof: proveLeaf(right)};
  return {root, answer: {accountProof, storageProofs: []}};
}
