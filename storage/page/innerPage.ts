/**
 * An inner page: four rows of nodes over up to 16 child pages.
 *
 *   'N' | n u8 | row 0, n x 32 | row 1, ceil(n/2) x 32 | row 2 | row 3 | children, n x u48
 *
 * Row 0 holds the children's roots, at the page's lowest height; the page's own root stands in its parent.
 */

import {WORD_BYTES} from "../hash/suite.ts";
import {PAGE_NUMBER_BYTES} from "../record/layout.ts";
import {INNER_PAGE_ROWS, ROW_STARTS} from "./geometry.ts";

export const INNER_PAGE = 0x4e;

const HEAD_BYTES = 2;

export function childCount(page: Buffer): number {
  return page[1] as number;
}

/** Offset of node `position` of `row`; position < rowLength(childCount, row). */
export function innerPageNodeAt(page: Buffer, row: number, position: number): number {
  const count = page[1] as number;
  return HEAD_BYTES + ((ROW_STARTS[count * 5 + row] as number) + position) * WORD_BYTES;
}

/** Page number of a child; position < childCount. */
export function childPage(page: Buffer, position: number): number {
  return page.readUIntBE(
    innerPageNodeAt(page, INNER_PAGE_ROWS, 0) + position * PAGE_NUMBER_BYTES,
    PAGE_NUMBER_BYTES,
  );
}

/**
 * @param rows - rows 0 to 3 back to back, cut to the occupied prefix
 * @param spare - bytes to leave free at the end, for the checksum
 */
export function encodeInnerPage(children: readonly number[], rows: Uint8Array, spare: number): Buffer {
  const childrenAt = HEAD_BYTES + rows.length;
  // Of its own, not a slice of Node's shared slab: it may stay in the cache.
  const page = Buffer.allocUnsafeSlow(childrenAt + children.length * PAGE_NUMBER_BYTES + spare);
  page[0] = INNER_PAGE;
  page[1] = children.length;
  page.set(rows, HEAD_BYTES);
  for (let i = 0; i < children.length; i++)
    page.writeUIntBE(children[i] as number, childrenAt + i * PAGE_NUMBER_BYTES, PAGE_NUMBER_BYTES);
  return page;
}
