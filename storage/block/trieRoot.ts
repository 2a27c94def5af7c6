/**
 * The record of the state trie's root after a block: the trie of Ethereum's rules, whose root the block's header names. It stands
 * among the trie's nodes, under the hash of the block.
 *
 *   root 32 | kind u8 | figures, or nothing if the source gave no whole header
 *
 *   kind 0  the block's changes were applied to the trie, and gave the root of its header
 *   kind 1  the same, but its source gave no header to compare with
 *   kind 2  the block was executed here. In stores of earlier releases, such a record ends after the root
 *
 * The figures are those of the block's header that decide what the next header may say (workers/execution/parentFigures.ts).
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

const KINDS = ["checked", "unchecked", "executed"] as const;

export interface TrieRoot {
  /** 32 bytes. */
  readonly root: Uint8Array;
  readonly kind: (typeof KINDS)[number];
  readonly figures?: Uint8Array | undefined;
}

/** The name of the record, as of a node of the trie. */
export function trieRootName(blockHash: Uint8Array): string {
  return `root:${Buffer.from(blockHash).toString("hex")}`;
}

export function encodeTrieRoot({root, kind, figures = new Uint8Array(0)}: TrieRoot): Uint8Array {
  return Buffer.concat([root, Buffer.of(KINDS.indexOf(kind)), figures]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeTrieRoot(body: Uint8Array): TrieRoot {
  const kind = body.length === WORD_BYTES ? "executed" : KINDS[body[WORD_BYTES] as number];
  if (kind === undefined) throw new StoreError("RECORD_DAMAGED", "the record of a trie root is malformed");
  const figures = body.subarray(WORD_BYTES + 1);
  return {root: body.subarray(0, WORD_BYTES), kind, ...(figures.length > 0 && {figures})};
}
