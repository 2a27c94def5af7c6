/**
 * The record of the state trie's root after a block: the trie of Ethereum's rules, whose root the block's header names. It stands
 * among the trie's nodes, under the hash of the block.
 *
 *   root 32 | kind u8
 */
import {WORD_BYTES} from "../hash/suite.ts";
import {BodyReader} from "../record/body.ts";

/**
 * checked: the block's changes were applied to the trie, and gave the root of its header; unchecked: the same, but its source gave
 * no header to compare with; executed: the block was executed here.
 */
const KINDS = ["checked", "unchecked", "executed"] as const;

export interface TrieRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  readonly kind: (typeof KINDS)[number];
}

/** The name of the record, as of a node of the trie. */
export function trieRootName(blockHash: Uint8Array): string {
  return `root:${Buffer.from(blockHash).toString("hex")}`;
}

export function encodeTrieRoot({root, kind}: TrieRoot): Uint8Array {
  return Buffer.concat([root, Buffer.of(KINDS.indexOf(kind))]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeTrieRoot(body: Uint8Array): TrieRoot {
  const reader = new BodyReader("the record of a trie root", Buffer.from(body));
  const root = reader.bytes(WORD_BYTES);
  const kind = KINDS[reader.number(1)];
  if (kind === undefined) throw reader.damage("its kind is unknown");
  return reader.end({root, kind});
}
