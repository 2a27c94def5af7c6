/** Checks a tree's hKey index: every key stands where its nibbles lead, in order, and names the leaf that has it. */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {
  BUCKET_ENTRIES,
  DIRECTORY,
  DIRECTORY_CHILDREN,
  directoryChild,
  expectBucket,
  KEY_NIBBLES,
  nibbleAt,
  readEntries,
} from "../page/indexPage.ts";
import type {PageReader} from "../page/pageReader.ts";
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
      checkBucket(check, expectBucket(body, page), path, where);
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

function checkBucket(check: TreeCheck, bucket: Buffer, path: readonly number[], where: string): void {
  const {store, findings, tree} = check;
  const entries = readEntries(bucket);
  if (entries.length > BUCKET_ENTRIES) findings.report(where, `a bucket of ${entries.length} keys`);
  for (const [i, {hKey, leafIndex}] of entries.entries()) {
    const before = entries[i - 1]?.hKey;
    if (before !== undefined && compareWordAt(before, 0, hKey, 0, hKey.length) >= 0)
      findings.report(where, `key ${i} is not above key ${i - 1}`);
    const leaf = readLeaf(store.pages, tree, leafIndex);
    if (compareWordAt(leaf.hKey, 0, hKey, 0, hKey.length) !== 0)
      findings.report(where, `key ${i} is not that of leaf ${leafIndex}`);
    if (path.some((nibble, depth) => nibbleAt(leaf.hKey, depth) !== nibble))
      findings.report(where, `key ${i} does not belong under the nibbles that lead here`);
  }
}

/** @returns the leaf indexes in the order of their keys. @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export function* listIndex(pages: PageReader, page: number): Generator<number, undefined> {
  const body = pages.read(page);
  if (body[0] !== DIRECTORY) {
    for (const {leafIndex} of readEntries(expectBucket(body, page))) yield leafIndex;
    return;
  }
  for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
    const child = directoryChild(body, nibble);
    if (child !== 0) yield* listIndex(pages, child);
  }
}
