/**
 * The state trie in the record of a block: Ethereum's state trie, whose root is in the block's header.
 *
 *   0                              not stored
 *   1 or 2 | root 32 | page u48    2: the block was executed here
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {type BodyReader, encodeNumber} from "../record/recordBody.ts";
import type {TrieRoot} from "../trie/trie.ts";

export interface BlockTrie extends TrieRoot {
  readonly isExecuted: boolean;
}

const MISSING = 0;
const STORED = 1;
const EXECUTED = 2;

export function encodeBlockTrie(trie: BlockTrie | undefined): Buffer {
  if (trie === undefined) return Buffer.of(MISSING);
  return Buffer.concat([Buffer.of(trie.isExecuted ? EXECUTED : STORED), trie.root, encodeNumber(trie.page)]);
}

/** @throws StoreError RECORD_DAMAGED */
export function readBlockTrie(reader: BodyReader): BlockTrie | undefined {
  const kind = reader.number(1);
  if (kind === MISSING) return undefined;
  if (kind > EXECUTED) throw reader.damage(`its state trie: expected 0, 1 or 2, got ${kind}`);
  return {root: reader.bytes(WORD_BYTES), page: reader.number(), isExecuted: kind === EXECUTED};
}
