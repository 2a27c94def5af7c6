/** Hashes single pages again: does every node follow from the two below it? */

import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {lowestHeight, rowCount, rowLength, rowStart} from "../page/geometry.ts";
import {childCount, INNER_PAGE, innerRowsAt} from "../page/innerPage.ts";
import {LEAF_PAGE, leafAt, leafCount, leafRowsAt} from "../page/leafPage.ts";
import {expectKind} from "../page/pageReader.ts";
import type {EmptyTree} from "../tree/emptyTree.ts";

interface RehashedPage {
  readonly root: Uint8Array;
  /** Leaves or children in use. */
  readonly entries: number;
  readonly mismatches: readonly string[];
}

/** @throws StoreError RECORD_DAMAGED if the page's kind does not fit its level */
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
  const rowsAt = isLeafPage ? leafRowsAt(entries) : innerRowsAt(entries);
  const occupied = isLeafPage ? entries : 2 * entries;
  const rows = rowCount(level);
  const lowest = lowestHeight(level);
  /** A position that is not in use has the empty sub-tree. */
  const node = (row: number, position: number): Uint8Array => {
    if (position >= rowLength(occupied, row)) return empty.zeros[lowest + row] as Uint8Array;
    const at = rowsAt + (rowStart(occupied, row) + position) * WORD_BYTES;
    return body.subarray(at, at + WORD_BYTES);
  };
  const pair = new Uint8Array(2 * WORD_BYTES);
  const hash = (left: Uint8Array, right: Uint8Array): Uint8Array => {
    pair.set(left, 0);
    pair.set(right, WORD_BYTES);
    const parent = new Uint8Array(WORD_BYTES);
    suite.hashPairsInto(pair, 1, parent);
    return parent;
  };
  const mismatches: string[] = [];
  if (isLeafPage)
    for (let position = 0; position < entries; position++)
      if (Buffer.compare(node(0, position), hashLeaf(suite, empty, body, position)) !== 0)
        mismatches.push(`leaf ${position}: its hash does not match`);
  for (let row = 1; row < rows; row++)
    for (let position = 0; position < rowLength(occupied, row); position++)
      if (
        Buffer.compare(
          node(row, position),
          hash(node(row - 1, 2 * position), node(row - 1, 2 * position + 1)),
        ) !== 0
      )
        mismatches.push(`node ${position} at height ${lowest + row}: not the hash of the two below it`);
  const top = rows - 1;
  const root = hash(hash(node(top, 0), node(top, 1)), hash(node(top, 2), node(top, 3)));
  return {root, entries, mismatches};
}

function hashLeaf(suite: HashSuite, empty: EmptyTree, body: Buffer, position: number): Uint8Array {
  const leaf = leafAt(body, position);
  if (leaf === undefined) return empty.zeros[0] as Uint8Array;
  const opening = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(opening, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
  return suite.hashNode(opening);
}
