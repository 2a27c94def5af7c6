/**
 * All keys of an hKey index, in ascending order.
 */

import {
  BUCKET,
  bucketEntries,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  ENTRY_BYTES,
  entryHKey,
  entryLeafIndex,
} from "../page/indexPage.ts";
import {expectKind, type PageReader} from "../page/pages.ts";

interface IndexEntry {
  /** 32 bytes, a view. */
  readonly hKey: Uint8Array;
  readonly leafIndex: number;
}

/** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export function* listIndex(pages: PageReader, page: number): Generator<IndexEntry, undefined> {
  const body = pages.read(page);
  if (body[0] === DIRECTORY) {
    for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
      const child = directoryChild(body, nibble);
      if (child !== 0) yield* listIndex(pages, child);
    }
    return;
  }
  const entries = bucketEntries(expectKind(body, BUCKET, page));
  for (let position = 0; position * ENTRY_BYTES < entries.length; position++)
    yield {hKey: entryHKey(entries, position), leafIndex: entryLeafIndex(entries, position)};
}
