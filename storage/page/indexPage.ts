/**
 * Pages of the hKey index: a radix tree over the nibbles of hKey, which leads from a leaf's key to its leaf index.
 *
 *   directory   'D' | 16 x u48: the page of each next nibble, 0 = no key there
 *   bucket      'B' | count u8 | count x (hKey 32 | leaf index u40), ascending
 *
 * hKeys are spread evenly, so the tree balances itself: buckets of up to 32 keys under 16-way directories. Those of
 * poseidon2 have a first nibble of 7 at most in each eight, so the root directory has 8 children in use. Head and tail
 * are not in the index.
 */

import {compareWordAt} from "../hash/hKeyOrder.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {NUMBER_BYTES} from "../record/layout.ts";
import {DifferenceSteps} from "./pageDifference.ts";

export const DIRECTORY = 0x44;
export const BUCKET = 0x42;
export const DIRECTORY_CHILDREN = 16;
/** A bucket with more entries is split. Larger buckets cost bytes per insert, smaller ones cost reads per lookup. */
export const BUCKET_ENTRIES = 32;
export const ENTRY_BYTES = WORD_BYTES + 5;

const ENTRIES_AT = 2;

export const KEY_NIBBLES = 2 * WORD_BYTES;

export function nibbleAt(hKey: Uint8Array, depth: number): number {
  const byte = hKey[depth >> 1] as number;
  return depth & 1 ? byte & 15 : byte >> 4;
}

export function directoryChild(page: Buffer, nibble: number): number {
  return page.readUIntBE(1 + nibble * NUMBER_BYTES, NUMBER_BYTES);
}

/** A bucket's entries, a view. */
export function bucketEntries(page: Buffer): Buffer {
  return page.subarray(ENTRIES_AT, ENTRIES_AT + (page[1] as number) * ENTRY_BYTES);
}

/** The hKey of the entry at a position, a view. */
export function entryHKey(entries: Buffer, position: number): Buffer {
  return entries.subarray(position * ENTRY_BYTES, position * ENTRY_BYTES + WORD_BYTES);
}

export function entryLeafIndex(entries: Buffer, position: number): number {
  return entries.readUIntBE(position * ENTRY_BYTES + WORD_BYTES, ENTRY_BYTES - WORD_BYTES);
}

export function encodeEntry(hKey: Uint8Array, leafIndex: number): Buffer {
  const entry = Buffer.allocUnsafe(ENTRY_BYTES);
  entry.set(hKey, 0);
  entry.writeUIntBE(leafIndex, WORD_BYTES, ENTRY_BYTES - WORD_BYTES);
  return entry;
}

export function encodeDirectory(children: readonly number[], spare: number): Buffer {
  // Memory of its own, not a slice of Node's shared slab, because the page may stay in the cache.
  const page = Buffer.allocUnsafeSlow(1 + DIRECTORY_CHILDREN * NUMBER_BYTES + spare);
  page[0] = DIRECTORY;
  for (let i = 0; i < DIRECTORY_CHILDREN; i++)
    page.writeUIntBE(children[i] as number, 1 + i * NUMBER_BYTES, NUMBER_BYTES);
  return page;
}

export function encodeBucket(entries: Uint8Array, spare: number): Buffer {
  const page = Buffer.allocUnsafe(ENTRIES_AT + entries.length + spare);
  page[0] = BUCKET;
  page[1] = entries.length / ENTRY_BYTES;
  page.set(entries, ENTRIES_AT);
  return page;
}

const steps = new DifferenceSteps();

/** @returns the steps from an older version of a bucket; undefined: more than `most` bytes, or no bucket */
export function differBuckets(base: Buffer, most: number, page: Buffer): Uint8Array | undefined {
  if (base[0] !== BUCKET) return undefined;
  steps.begin(most);
  steps.replaceDiffering(base, 1, page, 1, 1);
  let old = ENTRIES_AT;
  for (let at = ENTRIES_AT; at < page.length || old < base.length; ) {
    let order = at === page.length ? -1 : 1;
    if (at < page.length && old < base.length) order = compareWordAt(base, old, page, at);
    // A key that was deleted and inserted again has another leaf.
    if (order === 0) steps.replaceDiffering(base, old, page, at, ENTRY_BYTES);
    else if (order < 0) steps.replace(old, ENTRY_BYTES, page, at, at);
    else steps.replace(old, 0, page, at, at + ENTRY_BYTES);
    if (order <= 0) old += ENTRY_BYTES;
    if (order >= 0) at += ENTRY_BYTES;
  }
  return steps.end();
}

/** @returns the position of the entry with this key, or -(p + 1) where p entries are below it */
export function searchEntries(entries: Buffer, hKey: Uint8Array): number {
  let low = 0;
  let high = entries.length / ENTRY_BYTES;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareWordAt(entries, middle * ENTRY_BYTES, hKey);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -(low + 1);
}
