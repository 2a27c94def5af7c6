/** The state trie of a block, which a store with another suite than keccak may lack. */
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import type {TrieRoot} from "../../storage/trie/trie.ts";
import {CallFailure} from "./failure.ts";

/** @throws CallFailure */
export function trieOrThrow({header, trie}: BlockRecord): TrieRoot {
  if (trie !== undefined) return trie;
  const detail =
    `eth_getProof, eth_getMultiProof, proof_call and the suite keccak are not available: the store does not hold Ethereum's state trie of block ${header.number}. ` +
    "Use chain_getProof, or import the chain into a new store that begins with a genesis file (--genesis) or the header of block 0";
  throw new CallFailure({failure: "NOT_AVAILABLE", detail});
}
