/**
 * Re-hashing single pages: does every node follow from those below it?
 */
import type {EmptyTree} from "../hash/emptyTree.ts";
import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {INNER_PAGE_ROWS, LEAF_PAGE_ROWS, pageRootHeight, rowLength} from "../page/geometry.ts";
import {childCount, INNER_PAGE, innerPageNodeAt} from "../page/innerPage.ts";
import {LEAF_PAGE, leafAt, leafCount, leafPageNodeAt} from "../page/leafPage.ts";
import {expectKind} from "../page/pages.ts";

/** What re-hashing a page gave. */
export interface RehashedPage {
  /** 32 bytes: the root that the rows give. */
  readonly root: Uint8Array;
  /** Leaves or children in use. */
  readonly entries: number;
  /** What does not match, in words. */
  readonly mismatches: readonly string[];
}

/** @throws StoreError RECORD_DAMAGED if the page is of another kind than its level has */
export function rehashPage(
  suite: HashSuite,
  empty: EmptyTree,
  body: Buffer,
  level: number,
  page: number,
): RehashedPage {
  const isLeafPage = level === 0;
  expectKind(body, isLeafPage ? LEAF_PAGE : INNER_PAGE, page);
  const entries = isLeafPage ? leafCount(body) : childCount(body);
  const rows = isLeafPage ? LEAF_PAGE_ROWS : INNER_PAGE_ROWS;
  const lowest = pageRootHeight(level) - rows;
  const nodeAt = isLeafPage ? leafPageNodeAt : innerPageNodeAt;
  const node = (row: number, position: number): Buffer => {
    const at = nodeAt(body, row, position);
    return body.subarray(at, at + WORD_BYTES);
  };
  const pair = new Uint8Array(2 * WORD_BYTES);
  const parent = new Uint8Array(WORD_BYTES);
  const hashParent = (row: number, position: number): Uint8Array => {
    pair.set(node(row, 2 * position), 0);
    const hasRight = 2 * position + 1 < rowLength(entries, row);
    pair.set(hasRight ? node(row, 2 * position + 1) : (empty.zeros[lowest + row] as Uint8Array), WORD_BYTES);
    suite.hashPairsInto(pair, 1, parent);
    return parent;
  };
  const mismatches: string[] = [];
  if (isLeafPage)
    for (let position = 0; position < entries; position++)
      if (!node(0, position).equals(hashLeaf(suite, empty, body, position)))
        mismatches.push(`leaf ${position}: its hash is another`);
  for (let row = 1; row < rows; row++)
    for (let position = 0; position < rowLength(entries, row); position++)
      if (!node(row, position).equals(hashParent(row - 1, position)))
        mismatches.push(`node ${position} at height ${lowest + row}: not the hash of the two below it`);
  return {root: new Uint8Array(hashParent(rows - 1, 0)), entries, mismatches};
}

function hashLeaf(suite: HashSuite, empty: EmptyTree, body: Buffer, position: number): Uint8Array {
  const leaf = leafAt(body, position);
  if (leaf === undefined) return empty.zeros[0] as Uint8Array;
  const opening = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(opening, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
  return suite.hashNode(opening);
}
