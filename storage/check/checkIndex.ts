/** Checks a tree's hKey index: every key stands where its nibbles lead, in order, and names the leaf that has it. */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {
  BUCKET,
  BUCKET_ENTRIES,
  bucketEntries,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  ENTRY_BYTES,
  entryHKey,
  entryLeafIndex,
  KEY_NIBBLES,
  nibbleAt,
} from "../page/indexPage.ts";
import {expectKind, type PageReader} from "../page/pageReader.ts";
import {readLeaf} from "../tree/treeReader.ts";
import type {TreeCheck} from "./checkKeys.ts";
import {toFinding} from "./findings.ts";

/** Checks only pages from `check.sincePage` on: older ones were checked with the block that wrote them. */
export async function checkIndex(check: TreeCheck): Promise<void> {
  const {indexPage} = check.tree;
  if (indexPage !== 0) await checkPage(check, indexPage, []);
}

async function checkPage(check: TreeCheck, page: number, path: readonly number[]): Promise<void> {
  if (page < check.sincePage) return;
  const {store, findings} = check;
  const where = `${check.where}, index page ${page}`;
  try {
    if (page >= check.untilPage) findings.report(where, "it belongs to a later block");
    if (path.length > KEY_NIBBLES) throw new StoreError("RECORD_DAMAGED", "the index is deeper than a key");
    const body = store.pages.read(page);
    findings.pages++;
    if (!(await findings.pause(check.where))) return;
    if (body[0] !== DIRECTORY) {
      checkBucket(check, bucketEntries(expectKind(body, BUCKET, page)), path, where);
      return;
    }
    for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
      const child = directoryChild(body, nibble);
      if (child !== 0) await checkPage(check, child, [...path, nibble]);
    }
  } catch (error) {
    findings.report(where, toFinding(error));
  }
}

function checkBucket(check: TreeCheck, entries: Buffer, path: readonly number[], where: string): void {
  const {store, findings, tree} = check;
  const count = entries.length / ENTRY_BYTES;
  if (count === 0 || count > BUCKET_ENTRIES) findings.report(where, `a bucket of ${count} keys`);
  for (let i = 0; i < count; i++) {
    const hKey = entryHKey(entries, i);
    if (path.some((nibble, depth) => nibbleAt(hKey, depth) !== nibble))
      findings.report(where, `key ${i} does not belong under the nibbles that lead here`);
    if (i > 0 && compareWordAt(entries, (i - 1) * ENTRY_BYTES, hKey) >= 0)
      findings.report(where, `key ${i} is not above key ${i - 1}`);
    const leafIndex = entryLeafIndex(entries, i);
    if (compareWordAt(readLeaf(store.pages, tree, leafIndex).hKey, 0, hKey) !== 0)
      findings.report(where, `key ${i} is not that of leaf ${leafIndex}`);
  }
}

/** @returns views of hKeys. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export function* listIndex(
  pages: PageReader,
  page: number,
): Generator<{readonly hKey: Uint8Array; readonly leafIndex: number}, undefined> {
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
