/** Verifies the answer to eth_getProof with the independent verifier (client/). The first node tells the root. */
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex, verifyEthProof} from "proofd-client";
import type {Presence} from "./verification.ts";

export const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/**
 * @param roots - the trusted roots; the proof must lead to one of them
 * @returns what the answer proves
 * @throws Error that says what is wrong
 */
export function verifyEthAnswer(
  roots: readonly string[],
  address: string,
  slots: readonly string[],
  result: unknown,
): Presence {
  const root = readProofRoot(result);
  if (!roots.includes(root)) throw new Error(`it leads to the root ${root}, which is not the block's`);
  const proven = verifyEthProof(decodeHex(root), address, slots, result);
  return {account: proven.account !== undefined, slots: proven.slots.map(value => value !== undefined)};
}

/** @returns the state root that an answer leads to. @throws Error if its first node is not bytes */
export function readProofRoot(result: unknown): string {
  const {accountProof} = (result ?? {}) as {accountProof?: unknown};
  // geth has null for no nodes, where there is no account at all.
  const nodes = accountProof === null ? [] : accountProof;
  if (!Array.isArray(nodes)) throw new Error("accountProof: no array");
  return nodes.length === 0 ? EMPTY_TRIE : encodeHex(keccak_256(decodeHex(nodes[0])));
}
