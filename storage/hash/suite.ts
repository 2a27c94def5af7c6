/** A hash function and the sizes of what it hashes (docs/proofs.md, section 1). Digests and keys have 32 bytes. */

/** Bytes of a digest, a node, a key, a word. */
export const WORD_BYTES = 32;
/** Height of the sub-root: 2^40 leaf positions. */
export const TREE_HEIGHT = 40;
/** An account's value: nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize. */
export const ACCOUNT_VALUE_BYTES = 6 * WORD_BYTES;

export interface HashSuite {
  /** The name in the format record and in chain_getCoverage. */
  readonly name: string;
  readonly leafOpeningBytes: number;
  readonly rootNodeBytes: number;
  readonly tailHKey: Uint8Array;

  /** Hashes `count` branches: out[i] = H(pairs[2i], pairs[2i+1]); `pairs` 64 bytes each, `out` 32 each. */
  hashPairsInto(pairs: Uint8Array, count: number, out: Uint8Array): void;
  /** safe(word(prev)), safe(word(next)): a leaf opening without its last 64 bytes, hKey and hVal. */
  encodeLeafLinksInto(out: Uint8Array, offset: number, prev: number, next: number): void;
  /** safe(word(prev)), safe(word(next)), hKey, hVal: `leafOpeningBytes` at `offset` of `out`. */
  encodeLeafOpeningInto(
    out: Uint8Array,
    offset: number,
    prev: number,
    next: number,
    hKey: Uint8Array,
    hVal: Uint8Array,
  ): void;
  /** safe(word(nextFreeNode)), subRoot: `rootNodeBytes` at `offset` of `out`. */
  encodeRootNodeInto(out: Uint8Array, offset: number, nextFreeNode: number, subRoot: Uint8Array): void;
  /** H of a leaf opening or a root node. */
  hashNode(node: Uint8Array): Uint8Array;
  /** Hashes `count` leaf openings, `leafOpeningBytes` each: out[i] = H(openings[i]), 32 bytes each. */
  hashLeavesInto(openings: Uint8Array, count: number, out: Uint8Array): void;
  /** hKey of an account; `address` 20 bytes. */
  hashAddress(address: Uint8Array): Uint8Array;
  /** hKey of a slot; `slot` 32 bytes. */
  hashSlot(slot: Uint8Array): Uint8Array;
  /** hVal of a slot; `value` 32 bytes. */
  hashSlotValue(value: Uint8Array): Uint8Array;
  /** hVal of an account; `value` ACCOUNT_VALUE_BYTES. */
  hashAccountValue(value: Uint8Array): Uint8Array;
  /** codeHash. `code` is empty for an account without code. */
  hashCode(code: Uint8Array): Uint8Array;
}
