/** Finds a key's leaf, or a neighbour of the key, in the hKey index as of any block. */

import {StoreError} from "../errors.ts";
import {
  BUCKET,
  bucketEntries,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  ENTRY_BYTES,
  entryLeafIndex,
  KEY_NIBBLES,
  nibbleAt,
  searchEntries,
} from "../page/indexPage.ts";
import {expectKind, type PageReader} from "../page/pageReader.ts";

/** Where a key is, or one neighbour of an absent key. The other one is that leaf's `prev` or `next`. */
export interface IndexPosition {
  readonly kind: "exact" | "lower" | "higher";
  /** The leaf with this key, or the nearest leaf below or above it. */
  readonly leafIndex: number;
}

/**
 * @param page - of the index, or of a sub-tree at `depth` nibbles; never 0. @param onFound - gets the key's bucket
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function searchIndex(
  pages: PageReader,
  page: number,
  depth: number,
  hKey: Uint8Array,
  onFound?: (entries: Buffer) => void,
): IndexPosition {
  let at = page;
  for (let level = depth; ; level++) {
    const body = pages.read(at);
    if (level > KEY_NIBBLES)
      throw new StoreError("RECORD_DAMAGED", `page ${at}: the index is deeper than a key`);
    if (body[0] !== DIRECTORY) {
      const entries = bucketEntries(expectKind(body, BUCKET, at));
      const position = searchBucket(entries, hKey);
      if (position.kind === "exact") onFound?.(entries);
      return position;
    }
    const nibble = nibbleAt(hKey, level);
    const child = directoryChild(body, nibble);
    if (child === 0) return nearest(pages, body, nibble);
    at = child;
  }
}

/** @param entries - never empty */
export function searchBucket(entries: Buffer, hKey: Uint8Array): IndexPosition {
  const found = searchEntries(entries, hKey);
  if (found >= 0) return {kind: "exact", leafIndex: entryLeafIndex(entries, found)};
  const below = -found - 1;
  if (below > 0) return {kind: "lower", leafIndex: entryLeafIndex(entries, below - 1)};
  return {kind: "higher", leafIndex: entryLeafIndex(entries, 0)};
}

/** The greatest key below the nibble or else the smallest above it, within the directory. */
function nearest(pages: PageReader, directory: Buffer, nibble: number): IndexPosition {
  for (let i = nibble - 1; i >= 0; i--) {
    const child = directoryChild(directory, i);
    if (child !== 0) return {kind: "lower", leafIndex: edgeLeaf(pages, child, true)};
  }
  for (let i = nibble + 1; i < DIRECTORY_CHILDREN; i++) {
    const child = directoryChild(directory, i);
    if (child !== 0) return {kind: "higher", leafIndex: edgeLeaf(pages, child, false)};
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
      const entries = bucketEntries(expectKind(body, BUCKET, at));
      return entryLeafIndex(entries, greatest ? entries.length / ENTRY_BYTES - 1 : 0);
    }
    let nibble = greatest ? DIRECTORY_CHILDREN - 1 : 0;
    while (directoryChild(body, nibble) === 0) nibble += greatest ? -1 : 1;
    at = directoryChild(body, nibble);
  }
}
