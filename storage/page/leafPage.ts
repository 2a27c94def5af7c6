/**
 * A leaf page: 4 leaf positions and their hashes. That of a small tree has 8, and the row above.
 *
 *   'L' | n u8 | entry ends, n x u16 | row 0, n x 32 | entries
 *   'S' | n u8 | entry ends, n x u16 | row 0, n x 32 | row 1, ceil(n/2) x 32 | entries
 *   entry   prev u40 | next u40 | hKey 32 | hVal 32 | value        (no bytes at all: the leaf was deleted)
 *   value   an account's stored form (account.ts); a slot's value without leading zeros; nothing for head and tail
 *
 * n = positions in use. Row r holds the nodes at height r. Leaves are found by their index in the tree or in the page.
 */
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {LEAVES_PER_PAGE, SMALL_TREE} from "./geometry.ts";

export const LEAF_PAGE = 0x4c;
export const SMALL_TREE_PAGE = 0x53;

const HEAD_BYTES = 2;
const NEXT_AT = 5;
const H_KEY_AT = 10;
const H_VAL_AT = H_KEY_AT + WORD_BYTES;
const VALUE_AT = H_VAL_AT + WORD_BYTES;

/** One leaf. Its bytes are views of the page, or belong to the writer. */
export interface Leaf {
  readonly prev: number;
  readonly next: number;
  readonly hKey: Uint8Array;
  readonly hVal: Uint8Array;
  readonly value: Uint8Array;
}

/** @param positions - in use in the tree. @throws StoreError RECORD_DAMAGED if `page`, whose body this is, is no such leaf page */
export function expectLeafPage(body: Buffer, positions: number, page: number): Buffer {
  if (body[0] === (positions <= SMALL_TREE ? SMALL_TREE_PAGE : LEAF_PAGE)) return body;
  throw new StoreError(
    "RECORD_DAMAGED",
    `page ${page}: expected a leaf page of a tree of ${positions} positions`,
  );
}

/** As the stored page has it, or has it deleted. */
export const KEPT = "kept";
export type DraftLeaf = Leaf | typeof KEPT | undefined;

export function leafCount(page: Buffer): number {
  return page[1] as number;
}

/** Rows of nodes. */
export function leafRows(page: Buffer): number {
  return page[0] === SMALL_TREE_PAGE ? 2 : 1;
}

/** @returns the leaf's position in its page */
export function leafPosition(page: Buffer, leafIndex: number): number {
  return leafIndex % (page[0] === SMALL_TREE_PAGE ? SMALL_TREE : LEAVES_PER_PAGE);
}

/** Offset of row 0 or 1 in a page of `leaves` positions. */
export function leafRowAt(leaves: number, row: number): number {
  return HEAD_BYTES + 2 * leaves + row * leaves * WORD_BYTES;
}

/** Offset of the leaf, or -1 if it is deleted or not in use. */
export function findEntry(page: Buffer, leafIndex: number): number {
  const position = leafPosition(page, leafIndex);
  if (position >= (page[1] as number)) return -1;
  const start = entryStart(page, position);
  return start === entryEnd(page, position) ? -1 : start;
}

export function entryPrev(page: Buffer, entry: number): number {
  return page.readUIntBE(entry, 5);
}

export function entryNext(page: Buffer, entry: number): number {
  return page.readUIntBE(entry + NEXT_AT, 5);
}

/** Offset of the entry's hKey. hVal follows it: 64 bytes together. */
export function entryKeyAt(entry: number): number {
  return entry + H_KEY_AT;
}

/** Offset of the entry's stored value. It ends at `entryEnd`. */
export function entryValueAt(entry: number): number {
  return entry + VALUE_AT;
}

/** The stored value of the leaf, a view. The page must have it. */
export function entryValue(page: Buffer, leafIndex: number): Uint8Array {
  const position = leafPosition(page, leafIndex);
  return page.subarray(entryStart(page, position) + VALUE_AT, entryEnd(page, position));
}

export function leafAt(page: Buffer, leafIndex: number): Leaf | undefined {
  const entry = findEntry(page, leafIndex);
  if (entry < 0) return undefined;
  return {
    prev: entryPrev(page, entry),
    next: entryNext(page, entry),
    hKey: page.subarray(entry + H_KEY_AT, entry + H_VAL_AT),
    hVal: page.subarray(entry + H_VAL_AT, entry + VALUE_AT),
    value: page.subarray(entry + VALUE_AT, entryEnd(page, leafIndex)),
  };
}

function entriesAt(page: Buffer): number {
  return entriesAfter(page[1] as number, page[0] as number);
}

function entriesAfter(leaves: number, kind: number): number {
  const row1 = kind === SMALL_TREE_PAGE ? (leaves + 1) >> 1 : 0;
  return leafRowAt(leaves, 1) + row1 * WORD_BYTES;
}

function entryStart(page: Buffer, position: number): number {
  return entriesAt(page) + (position === 0 ? 0 : page.readUInt16BE(HEAD_BYTES + 2 * (position - 1)));
}

export function entryEnd(page: Buffer, leafIndex: number): number {
  return entriesAt(page) + page.readUInt16BE(HEAD_BYTES + 2 * leafPosition(page, leafIndex));
}

/**
 * The caller writes the rows, cut to the occupied prefix, at `leafRowAt`.
 *
 * @param kind - LEAF_PAGE or SMALL_TREE_PAGE. @param leaves - undefined: deleted
 * @param stored - the page that has the leaves which are KEPT
 */
export function encodeLeafPage(
  kind: number,
  leaves: readonly DraftLeaf[],
  stored: Buffer,
  spare: number,
): Buffer {
  let entryBytes = 0;
  for (let position = 0; position < leaves.length; position++) {
    const leaf = leaves[position];
    if (leaf === KEPT) entryBytes += entryEnd(stored, position) - entryStart(stored, position);
    else if (leaf !== undefined) entryBytes += VALUE_AT + leaf.value.length;
  }
  const entries = entriesAfter(leaves.length, kind);
  const page = Buffer.allocUnsafe(entries + entryBytes + spare);
  page[0] = kind;
  page[1] = leaves.length;
  let at = entries;
  for (let position = 0; position < leaves.length; position++) {
    const leaf = leaves[position];
    if (leaf === KEPT) {
      const start = entryStart(stored, position);
      const end = entryEnd(stored, position);
      stored.copy(page, at, start, end);
      at += end - start;
    } else if (leaf !== undefined) {
      page.writeUIntBE(leaf.prev, at, 5);
      page.writeUIntBE(leaf.next, at + NEXT_AT, 5);
      page.set(leaf.hKey, at + H_KEY_AT);
      page.set(leaf.hVal, at + H_VAL_AT);
      page.set(leaf.value, at + VALUE_AT);
      at += VALUE_AT + leaf.value.length;
    }
    page.writeUInt16BE(at - entries, HEAD_BYTES + 2 * position);
  }
  return page;
}
