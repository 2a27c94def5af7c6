/**
 * The record of the state trie's root after a block: the trie of Ethereum's rules, whose root the block's header names. It stands
 * among the trie's nodes, under the hash of the block.
 *
 *   root 32                  the block was executed here
 *   root 32 | 0              the block's changes were applied to the trie, and gave the root of its header
 *   root 32 | 1              the same, but its source gave no header to compare with
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

const KINDS = ["checked", "unchecked"] as const;

export interface TrieRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  readonly kind: "executed" | (typeof KINDS)[number];
}

/** The name of the record, as of a node of the trie. */
export function trieRootName(blockHash: Uint8Array): string {
  return `root:${Buffer.from(blockHash).toString("hex")}`;
}

export function encodeTrieRoot({root, kind}: TrieRoot): Uint8Array {
  return kind === "executed" ? root : Buffer.concat([root, Buffer.of(KINDS.indexOf(kind))]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeTrieRoot(body: Uint8Array): TrieRoot {
  const kind = body.length === WORD_BYTES ? "executed" : KINDS[body[WORD_BYTES] as number];
  if (body.length > WORD_BYTES + 1 || kind === undefined)
    throw new StoreError("RECORD_DAMAGED", "the record of a trie root is malformed");
  return {root: body.subarray(0, WORD_BYTES), kind};
}
