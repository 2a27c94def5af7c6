/** Hashes single pages again: does every node follow from the two below it? */

import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {INNER_ROWS, lowestHeight, rowLength} from "../page/geometry.ts";
import {childCount, expectInner, innerRowAt, withAllRows} from "../page/innerPage.ts";
import {expectLeafPage, leafAt, leafCount, leafRowAt, leafRows} from "../page/leafPage.ts";
import type {EmptyTree} from "../tree/emptyTree.ts";

interface RehashedPage {
  /** With all rows. */
  readonly body: Buffer;
  readonly root: Uint8Array;
  /** Leaves or children in use. */
  readonly entries: number;
  readonly mismatches: readonly string[];
}

/** @param positions - in use in the tree. @throws StoreError RECORD_DAMAGED if the page's kind does not fit its level */
export function rehashPage(
  suite: HashSuite,
  empty: EmptyTree,
  stored: Buffer,
  level: number,
  page: number,
  positions: number,
): RehashedPage {
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
  // Every other row of an inner page is made from the one below.
  const step = isLeafPage ? 1 : 2;
  for (let row = step; row < rows; row += step)
    for (let position = 0; position < rowLength(occupied, row); position++)
      if (
        Buffer.compare(
          node(row, position),
          hash(node(row - 1, 2 * position), node(row - 1, 2 * position + 1)),
        ) !== 0
      )
        mismatches.push(`node ${position} at height ${lowest + row}: not the hash of the two below it`);
  const top = rows - 1;
  const left = hash(node(top, 0), node(top, 1));
  const right = hash(node(top, 2), node(top, 3));
  return {body, root: hash(left, right), entries, mismatches};
}

function hashLeaf(suite: HashSuite, empty: EmptyTree, body: Buffer, position: number): Uint8Array {
  const leaf = leafAt(body, position);
  if (leaf === undefined) return empty.zeros[0] as Uint8Array;
  const opening = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(opening, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
  return suite.hashNode(opening);
}
