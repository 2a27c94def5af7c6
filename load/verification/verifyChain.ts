/** Verifies an answer to chain_getProof with the independent verifier (client/). The size of the root node tells the suite. */
import {decodeHex, encodeHex, poseidon2Suite, sha256Suite, verifyProof} from "proofd-client";
import type {Presence} from "./verification.ts";

interface LeafProof {
  readonly proofRelatedNodes?: readonly unknown[];
}

/**
 * @param roots - the trusted roots; the proof must lead to one of them
 * @returns what the answer proves
 * @throws Error that says what is wrong
 */
export function verifyChainProof(
  roots: readonly string[],
  address: string,
  slots: readonly string[],
  result: unknown,
): Presence {
  const rootNode = decodeHex(findRootNode(result));
  const suite = rootNode.length === poseidon2Suite.rootNodeBytes ? poseidon2Suite : sha256Suite;
  const root = encodeHex(suite.hash(rootNode));
  if (!roots.includes(root)) throw new Error(`it leads to the root ${root}, which is not the block's`);
  const proven = verifyProof(suite, decodeHex(root), address, slots, result);
  return {account: proven.account !== undefined, slots: proven.slots.map(value => value !== undefined)};
}

function findRootNode(result: unknown): unknown {
  const {accountProof} = (result ?? {}) as {accountProof?: {proof?: LeafProof; leftProof?: LeafProof}};
  const proof = accountProof?.proof ?? accountProof?.leftProof;
  const rootNode = proof?.proofRelatedNodes?.[0];
  if (rootNode === undefined) throw new Error("accountProof: no proofRelatedNodes");
  return rootNode;
}
