/** Finds a key's leaf, or a neighbour of the key, in the hKey index as of any block. */

import {StoreError} from "../errors.ts";
import {
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  entryCount,
  entryLeafIndex,
  expectBucket,
  KEY_NIBBLES,
  nibbleAt,
  searchBucket,
} from "../page/indexPage.ts";
import type {PageReader} from "../page/pageReader.ts";

/**
 * @param page - of the index, or of a sub-tree at `depth` nibbles; never 0
 * @param onFound - gets the bucket if a key in it begins as this one does
 * @returns the leaf with this key, or if there is none, the nearest one below or above it: the leaf's key tells which
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function searchIndex(
  pages: PageReader,
  page: number,
  depth: number,
  hKey: Uint8Array,
  onFound?: (bucket: Buffer) => void,
): number {
  let at = page;
  for (let level = depth; ; level++) {
    const body = pages.read(at);
    if (level > KEY_NIBBLES)
      throw new StoreError("RECORD_DAMAGED", `page ${at}: the index is deeper than a key`);
    if (body[0] !== DIRECTORY) {
      const bucket = expectBucket(body, at);
      const position = searchBucket(bucket, hKey);
      if (position >= 0) onFound?.(bucket);
      return nearestEntry(bucket, position);
    }
    const nibble = nibbleAt(hKey, level);
    const child = directoryChild(body, nibble);
    if (child === 0) return nearest(pages, body, nibble);
    at = child;
  }
}

/** @param position - of searchBucket. @returns the leaf that was found, or else the nearest one below, or else above */
export function nearestEntry(bucket: Buffer, position: number): number {
  return entryLeafIndex(bucket, position >= 0 ? position : Math.max(0, -position - 2));
}

/** The greatest key below the nibble or else the smallest above it, within the directory. */
function nearest(pages: PageReader, directory: Buffer, nibble: number): number {
  for (let i = nibble - 1; i >= 0; i--) {
    const child = directoryChild(directory, i);
    if (child !== 0) return edgeLeaf(pages, child, true);
  }
  for (let i = nibble + 1; i < DIRECTORY_CHILDREN; i++) {
    const child = directoryChild(directory, i);
    if (child !== 0) return edgeLeaf(pages, child, false);
  }
  throw new RangeError("a directory without children");
}

/** Leaf index of the greatest (or smallest) key of a sub-tree. */
export function edgeLeaf(pages: PageReader, page: number, greatest: boolean): number {
  let at = page;
  for (let level = 0; ; level++) {
    if (level > KEY_NIBBLES)
      throw new StoreError("RECORD_DAMAGED", `page ${at}: the index is deeper than a key`);
    const body = pages.read(at);
    if (body[0] !== DIRECTORY) {
      const bucket = expectBucket(body, at);
      return entryLeafIndex(bucket, greatest ? entryCount(bucket) - 1 : 0);
    }
    let nibble = greatest ? DIRECTORY_CHILDREN - 1 : 0;
    while (directoryChild(body, nibble) === 0) nibble += greatest ? -1 : 1;
    at = directoryChild(body, nibble);
  }
}
