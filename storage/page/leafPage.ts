/**
 * A leaf page: 8 leaf positions, their hashes and the row above.
 *
 *   'L' | n u8 | entry ends, n x u16 | row 0, n x 32 | row 1, ceil(n/2) x 32 | entries
 *   entry   prev u40 | next u40 | hKey 32 | hVal 32 | value        (no bytes at all: the leaf was deleted)
 *   value   an account's stored form (account.ts); a slot's value without leading zeros; nothing for head and tail
 *
 * n = positions in use. Row r holds the nodes at height r.
 */

import {WORD_BYTES} from "../hash/suite.ts";
import {rowCount, rowStart} from "./geometry.ts";

export const LEAF_PAGE = 0x4c;

const ROWS = rowCount(0);
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

/** As the stored page has it, or has it deleted. */
export const KEPT = "kept";
export type DraftLeaf = Leaf | typeof KEPT | undefined;

export function leafCount(page: Buffer): number {
  return page[1] as number;
}

/** Offset of row 0 in a page of `leaves` positions. */
export function leafRowsAt(leaves: number): number {
  return HEAD_BYTES + 2 * leaves;
}

/** Offset of the leaf at a position, or -1 if it is deleted or not in use. */
export function findEntry(page: Buffer, position: number): number {
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

/** The stored value of the leaf at a position, a view. There must be a leaf at this position. */
export function entryValue(page: Buffer, position: number): Uint8Array {
  return page.subarray(entryStart(page, position) + VALUE_AT, entryEnd(page, position));
}

export function leafAt(page: Buffer, position: number): Leaf | undefined {
  const entry = findEntry(page, position);
  if (entry < 0) return undefined;
  return {
    prev: entryPrev(page, entry),
    next: entryNext(page, entry),
    hKey: page.subarray(entry + H_KEY_AT, entry + H_VAL_AT),
    hVal: page.subarray(entry + H_VAL_AT, entry + VALUE_AT),
    value: page.subarray(entry + VALUE_AT, entryEnd(page, position)),
  };
}

function entriesAt(page: Buffer): number {
  const leaves = page[1] as number;
  return leafRowsAt(leaves) + rowStart(leaves, ROWS) * WORD_BYTES;
}

function entryStart(page: Buffer, position: number): number {
  return entriesAt(page) + (position === 0 ? 0 : page.readUInt16BE(HEAD_BYTES + 2 * (position - 1)));
}

export function entryEnd(page: Buffer, position: number): number {
  return entriesAt(page) + page.readUInt16BE(HEAD_BYTES + 2 * position);
}

/**
 * The caller writes rows 0 and 1, cut to the occupied prefix, at `leafRowsAt`.
 *
 * @param leaves - undefined: deleted. @param stored - the page that has the leaves which are KEPT
 */
export function encodeLeafPage(leaves: readonly DraftLeaf[], stored: Buffer, spare: number): Buffer {
  let entryBytes = 0;
  for (let position = 0; position < leaves.length; position++) {
    const leaf = leaves[position];
    if (leaf === KEPT) entryBytes += entryEnd(stored, position) - entryStart(stored, position);
    else if (leaf !== undefined) entryBytes += VALUE_AT + leaf.value.length;
  }
  const entries = leafRowsAt(leaves.length) + rowStart(leaves.length, ROWS) * WORD_BYTES;
  const page = Buffer.allocUnsafe(entries + entryBytes + spare);
  page[0] = LEAF_PAGE;
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
