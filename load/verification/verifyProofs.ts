/** Verifies proofs with proofd-client. The first node determines the root and, in chain style, the hash suite. */
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex, poseidon2Suite, sha256Suite, verifyEthProof, verifyProof} from "proofd-client";
import type {Style} from "../loadOptions.ts";

export const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

export interface Presence {
  readonly account: boolean;
  readonly slots: readonly boolean[];
}

/** @param roots - trusted: the proof must lead to one of them. @throws Error that names the problem */
export function verifyAnswer(
  style: Style,
  roots: readonly string[],
  address: string,
  slots: readonly string[],
  result: unknown,
): Presence {
  const rootNode = style === "chain" ? readRootNode(result) : undefined;
  const suite = rootNode?.length === poseidon2Suite.rootNodeBytes ? poseidon2Suite : sha256Suite;
  const root = rootNode === undefined ? readEthRoot(result) : encodeHex(suite.hash(rootNode));
  if (!roots.includes(root)) throw new Error(`it leads to the root ${root}, which is not the block's`);
  const proven =
    rootNode === undefined
      ? verifyEthProof(decodeHex(root), address, slots, result)
      : verifyProof(suite, decodeHex(root), address, slots, result);
  return {account: proven.account !== undefined, slots: proven.slots.map(value => value !== undefined)};
}

function readRootNode(result: unknown): Uint8Array {
  const {accountProof} = (result ?? {}) as {accountProof?: {proof?: LeafProof; leftProof?: LeafProof}};
  const proof = accountProof?.proof ?? accountProof?.leftProof;
  const rootNode = proof?.proofRelatedNodes?.[0];
  if (rootNode === undefined) throw new Error("accountProof: no proofRelatedNodes");
  return decodeHex(rootNode);
}

interface LeafProof {
  readonly proofRelatedNodes?: readonly unknown[];
}

/** @returns the state root that an answer to eth_getProof leads to. @throws Error if the first node is not hex */
function readEthRoot(result: unknown): string {
  const {accountProof} = (result ?? {}) as {accountProof?: unknown};
  // geth returns null if the state is empty.
  const nodes = accountProof === null ? [] : accountProof;
  if (!Array.isArray(nodes)) throw new Error("accountProof: no array");
  return nodes.length === 0 ? EMPTY_TRIE : encodeHex(keccak_256(decodeHex(nodes[0])));
}
