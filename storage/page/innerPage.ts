/**
 * An inner page: the page numbers of its children, and the rows of nodes above them.
 *
 *   'N' | n u8 | children, n x u48 | row 0, 2n x 32 | row 1, n x 32 | row 2, ceil(n/2) x 32 | ...
 *
 * Row 0 holds the two nodes under each child's root, row 1 the children's roots. The number of rows depends on the
 * level (geometry.ts).
 */

import {WORD_BYTES} from "../hash/suite.ts";
import {NUMBER_BYTES} from "../record/layout.ts";
import {rowStart} from "./geometry.ts";

export const INNER_PAGE = 0x4e;

const HEAD_BYTES = 2;

export function childCount(page: Buffer): number {
  return page[1] as number;
}

export function childPage(page: Buffer, position: number): number {
  return page.readUIntBE(HEAD_BYTES + position * NUMBER_BYTES, NUMBER_BYTES);
}

/** Offset of row 0 in a page of `children` children. */
export function innerRowsAt(children: number): number {
  return HEAD_BYTES + children * NUMBER_BYTES;
}

export function childRootAt(page: Buffer, position: number): number {
  const children = page[1] as number;
  return innerRowsAt(children) + (rowStart(2 * children, 1) + position) * WORD_BYTES;
}

export function beginInnerPage(page: Buffer): void {
  page[0] = INNER_PAGE;
  page[1] = 0;
}

/** @param position - of a child, or one after the last */
export function setChildPage(page: Buffer, position: number, child: number): void {
  page[1] = Math.max(page[1] as number, position + 1);
  page.writeUIntBE(child, HEAD_BYTES + position * NUMBER_BYTES, NUMBER_BYTES);
}
