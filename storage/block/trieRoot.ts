/**
 * The record of the state trie's root after a block: the trie of Ethereum's rules, whose root the block's header names. It stands
 * among the trie's nodes, under the hash of the block.
 *
 *   root 32 | executed u8
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader} from "../record/recordBody.ts";

export interface TrieRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  /** The block was executed here. */
  readonly isExecuted: boolean;
}

/** The name of the record, as of a node of the trie. */
export function trieRootName(blockHash: Uint8Array): string {
  return `root:${Buffer.from(blockHash).toString("hex")}`;
}

export function encodeTrieRoot({root, isExecuted}: TrieRoot): Uint8Array {
  return Buffer.concat([root, Buffer.of(isExecuted ? 1 : 0)]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeTrieRoot(body: Uint8Array): TrieRoot {
  const reader = new BodyReader("the record of a trie root", Buffer.from(body));
  return reader.end({root: reader.bytes(WORD_BYTES), isExecuted: reader.flag()});
}
