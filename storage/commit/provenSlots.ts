/** Stores nodes of slots that a slice lacks, from proofs of a later state: no block between has written these slots. */
import type {StateReader} from "../block/stateReader.ts";
import {keccak256} from "../hash/keccak.ts";
import {putMissing} from "../trie/missingNodes.ts";
import {TrieReader} from "../trie/trie.ts";
import {readStorage} from "./sliceTrie.ts";
import type {WriteBatch} from "./writeBatch.ts";

/** Slots that are missing at a block. */
export interface ProvenSlots {
  readonly block: number;
  readonly accounts: readonly {
    /** 20 bytes. */
    readonly address: Uint8Array;
    readonly slots: readonly ProvenSlot[];
  }[];
}

interface ProvenSlot {
  /** 32 bytes. */
  readonly slot: Uint8Array;
  /** RLP of nodes, from the root of any version of the contract's storage trie down to the slot. */
  readonly proof: readonly Uint8Array[];
}

/**
 * Puts those nodes whose hash a block's trie has where a node is missing. Nothing else of the proofs is believed, and
 * slots may still be missing afterwards. Flush the batch, so that readers find the nodes.
 *
 * @throws StoreError BLOCK_UNKNOWN, BLOCK_PRUNED, RECORD_DAMAGED; RECORD_MISSING, also of a block that is being pruned
 */
export function putProvenSlots(reader: StateReader, batch: WriteBatch, proven: readonly ProvenSlots[]): void {
  const tries = new TrieReader(batch);
  for (const {block, accounts} of proven) {
    const {trie} = reader.blockOrThrow(block);
    if (trie === undefined) continue;
    for (const {address, slots} of accounts) {
      const storage = readStorage(tries, trie, keccak256(address));
      if (storage === undefined) continue;
      for (const {slot, proof} of slots) putMissing(tries, batch, storage, keccak256(slot), "slots", proof);
    }
  }
}
