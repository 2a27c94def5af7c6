/**
 * Pages of the hKey index: a radix tree over the nibbles of hKey, which leads from a leaf's key to its leaf index.
 *
 *   directory   'D' | 16 x u48: the page of each next nibble, 0 = no key there
 *   bucket      'B' | count u8 | k u8 | count x (the hKey's first k bytes | leaf index u40), ascending
 *
 * hKeys are spread evenly, so the tree balances itself: buckets of up to 32 keys under 16-way directories. Those of
 * poseidon2 have a first nibble of 7 at most in each eight, so the root directory has 8 children in use. Head and tail
 * are not in the index.
 *
 * A bucket has only as many bytes of its keys as tell them apart, and at least 6. Whole keys would triple its size, for
 * nothing: whoever finds a leaf reads its page next, which has the key. Two of a million keys share 6 bytes in one of
 * 500 chains; whoever searches for such keys makes their bucket a few bytes longer.
 */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {NUMBER_BYTES} from "../record/layout.ts";
import {expectKind} from "./pageReader.ts";

export const DIRECTORY = 0x44;
export const BUCKET = 0x42;
export const DIRECTORY_CHILDREN = 16;
/** A bucket with more entries is split. Larger buckets cost bytes per insert, smaller ones cost reads per lookup. */
export const BUCKET_ENTRIES = 32;
/** Of a bucket's keys. The hints of keys use as many (keyHints.ts). */
const LEAST_KEY_BYTES = 6;
const INDEX_BYTES = 5;

const ENTRIES_AT = 3;

export const KEY_NIBBLES = 2 * WORD_BYTES;

export function nibbleAt(hKey: Uint8Array, depth: number): number {
  const byte = hKey[depth >> 1] as number;
  return depth & 1 ? byte & 15 : byte >> 4;
}

export function directoryChild(page: Buffer, nibble: number): number {
  return page.readUIntBE(1 + nibble * NUMBER_BYTES, NUMBER_BYTES);
}

export interface IndexEntry {
  /** The whole key, or at least the bytes that its bucket has. */
  readonly hKey: Uint8Array;
  readonly leafIndex: number;
}

export function entryCount(bucket: Buffer): number {
  return bucket[1] as number;
}

export function keyBytes(bucket: Buffer): number {
  return bucket[2] as number;
}

/** Offset of the entry: the first bytes of its key, then its leaf index. */
export function entryAt(bucket: Buffer, position: number): number {
  return ENTRIES_AT + position * (keyBytes(bucket) + INDEX_BYTES);
}

export function entryLeafIndex(bucket: Buffer, position: number): number {
  return bucket.readUIntBE(entryAt(bucket, position) + keyBytes(bucket), INDEX_BYTES);
}

/** The first bytes of the keys, views, and their leaf indexes. */
export function readEntries(bucket: Buffer): IndexEntry[] {
  return Array.from({length: entryCount(bucket)}, (_, position) => {
    const at = entryAt(bucket, position);
    const hKey = bucket.subarray(at, at + keyBytes(bucket));
    return {hKey, leafIndex: entryLeafIndex(bucket, position)};
  });
}

/** @returns the position of the entry whose key begins as `hKey` does, or -(p + 1) where p entries are below it */
export function searchBucket(bucket: Buffer, hKey: Uint8Array): number {
  let low = 0;
  let high = entryCount(bucket);
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareWordAt(bucket, entryAt(bucket, middle), hKey, 0, keyBytes(bucket));
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -(low + 1);
}

/** @throws StoreError RECORD_DAMAGED if `body` is no bucket with entries */
export function expectBucket(body: Buffer, page: number): Buffer {
  const bucket = expectKind(body, BUCKET, page);
  const count = entryCount(bucket);
  if (count > 0 && keyBytes(bucket) >= LEAST_KEY_BYTES && bucket.length === entryAt(bucket, count))
    return bucket;
  throw new StoreError(
    "RECORD_DAMAGED",
    `page ${page}: a bucket of ${bucket.length} bytes for ${count} keys`,
  );
}

export function encodeDirectory(children: readonly number[], spare: number): Buffer {
  // Memory of its own, not a slice of Node's shared slab, because the page may stay in the cache.
  const page = Buffer.allocUnsafeSlow(1 + DIRECTORY_CHILDREN * NUMBER_BYTES + spare);
  page[0] = DIRECTORY;
  for (let i = 0; i < DIRECTORY_CHILDREN; i++)
    page.writeUIntBE(children[i] as number, 1 + i * NUMBER_BYTES, NUMBER_BYTES);
  return page;
}

/** @param entries - 1 to 255, ascending. @param bytes - of each key: they must tell the keys apart */
export function encodeBucket(entries: readonly IndexEntry[], bytes: number, spare: number): Buffer {
  const page = Buffer.allocUnsafe(ENTRIES_AT + entries.length * (bytes + INDEX_BYTES) + spare);
  page[0] = BUCKET;
  page[1] = entries.length;
  page[2] = bytes;
  let at = ENTRIES_AT;
  for (const {hKey, leafIndex} of entries) {
    for (let i = 0; i < bytes; i++) page[at + i] = hKey[i] as number;
    page.writeUIntBE(leafIndex, at + bytes, INDEX_BYTES);
    at += bytes + INDEX_BYTES;
  }
  return page;
}

/** @param entries - ascending, with whole keys, of which no two are the same. @returns how many bytes tell them apart */
export function bytesToTellApart(entries: readonly IndexEntry[]): number {
  let bytes = LEAST_KEY_BYTES;
  for (let i = 1; i < entries.length; i++) {
    const [{hKey}, {hKey: before}] = [entries[i] as IndexEntry, entries[i - 1] as IndexEntry];
    while (compareWordAt(hKey, 0, before, 0, bytes) === 0) bytes++;
  }
  return bytes;
}
