/** Hashes single pages again: does every node follow from the two below it? */

import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {INNER_ROWS, lowestHeight, rowLength} from "../page/geometry.ts";
import {childCount, expectInner, innerRowAt, withAllRows} from "../page/innerPage.ts";
import {expectLeafPage, leafAt, leafCount, leafRowAt, leafRows} from "../page/leafPage.ts";
import {type EmptyTree, hashLeaf, hashPair} from "../tree/emptyTree.ts";

/**
 * @param positions - in use in the tree. @throws StoreError RECORD_DAMAGED if the page's kind does not fit its level
 * @returns the page with all rows, its root, its leaves or children in use, and what does not match
 */
export function rehashPage(
  suite: HashSuite,
  empty: EmptyTree,
  stored: Buffer,
  level: number,
  page: number,
  positions: number,
): {body: Buffer; root: Uint8Array; entries: number; mismatches: string[]} {
  const isLeafPage = level === 0;
  const body = isLeafPage
    ? expectLeafPage(stored, positions, page)
    : withAllRows(expectInner(stored, level, page), suite, empty.zeros);
  const entries = isLeafPage ? leafCount(body) : childCount(body);
  const occupied = isLeafPage ? entries : 2 * entries;
  const rows = isLeafPage ? leafRows(body) : INNER_ROWS;
  const lowest = lowestHeight(level);
  /** A position that is not in use has the empty sub-tree. */
  const node = (row: number, position: number): Uint8Array => {
    if (position >= rowLength(occupied, row)) return empty.zeros[lowest + row] as Uint8Array;
    const rowAt = isLeafPage ? leafRowAt(entries, row) : innerRowAt(entries, row);
    const at = rowAt + position * WORD_BYTES;
    return body.subarray(at, at + WORD_BYTES);
  };
  /** The hash of two nodes next to each other. @param position - of the first one */
  const hashAt = (row: number, position: number): Uint8Array =>
    hashPair(suite, node(row, position), node(row, position + 1));
  const mismatches: string[] = [];
  if (isLeafPage)
    for (let position = 0; position < entries; position++) {
      const leaf = leafAt(body, position);
      const hash = leaf === undefined ? (empty.zeros[0] as Uint8Array) : hashLeaf(suite, leaf);
      if (Buffer.compare(node(0, position), hash) !== 0)
        mismatches.push(`leaf ${position}: its hash does not match`);
    }
  // Every other row of an inner page is made from the one below.
  const step = isLeafPage ? 1 : 2;
  for (let row = step; row < rows; row += step)
    for (let position = 0; position < rowLength(occupied, row); position++)
      if (Buffer.compare(node(row, position), hashAt(row - 1, 2 * position)) !== 0)
        mismatches.push(`node ${position} at height ${lowest + row}: not the hash of the two below it`);
  const top = rows - 1;
  const root = hashPair(suite, hashAt(top, 0), hashAt(top, 2));
  return {body, root, entries, mismatches};
}
