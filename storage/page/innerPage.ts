/**
 * An inner page: the page numbers of its children, and the rows of nodes above them.
 *
 *   'N' | level u8 | n u8 | children, n x u48 | row 0, 2n x 32 | row 2, ceil(n/2) x 32         what is stored
 *       | row 1, n x 32 | row 3, ceil(n/4) x 32                                                in memory
 *
 * Row 0 holds the two nodes under each child's root, row 1 the children's roots. Rows 1 and 3 are one hash above stored
 * ones. They are made for cached pages that are read often, so that a path at the newest block hashes nothing.
 */
import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {NUMBER_BYTES} from "../record/layout.ts";
import {lowestHeight, rowLength} from "./geometry.ts";
import {DifferenceSteps} from "./pageDifference.ts";

export const INNER_PAGE = 0x4e;

const HEAD_BYTES = 3;

/** @throws StoreError RECORD_DAMAGED if `page`, whose body this is, is no inner page of this level */
export function expectInner(body: Buffer, level: number, page: number): Buffer {
  if (body[0] === INNER_PAGE && body[1] === level) return body;
  throw new StoreError("RECORD_DAMAGED", `page ${page}: expected an inner page of level ${level}`);
}

export function childCount(page: Buffer): number {
  return page[2] as number;
}

export function childPage(page: Buffer, position: number): number {
  return page.readUIntBE(HEAD_BYTES + position * NUMBER_BYTES, NUMBER_BYTES);
}

/** Offset of a row in a page of `children` children. Rows 1 and 3 are after the bytes that are stored. */
export function innerRowAt(children: number, row: number): number {
  const half = (children + 1) >> 1;
  let nodes = 0;
  if (row === 2) nodes = 2 * children;
  else if (row === 1) nodes = 2 * children + half;
  else if (row === 3) nodes = 3 * children + half;
  return HEAD_BYTES + children * NUMBER_BYTES + nodes * WORD_BYTES;
}

export function childRootAt(page: Buffer, position: number): number {
  return innerRowAt(childCount(page), 1) + position * WORD_BYTES;
}

/** Bytes of a page with all rows. */
export function innerPageBytes(children: number): number {
  return innerRowAt(children, 3) + rowLength(children, 2) * WORD_BYTES;
}

export function beginInnerPage(page: Buffer, level: number, children: number): void {
  page[0] = INNER_PAGE;
  page[1] = level;
  page[2] = children;
}

export function setChildPage(page: Buffer, position: number, child: number): void {
  page.writeUIntBE(child, HEAD_BYTES + position * NUMBER_BYTES, NUMBER_BYTES);
}

export function hasAllRows(page: Buffer): boolean {
  return page.length > innerRowAt(childCount(page), 1);
}

/** The bytes that are stored of a page, a view. */
export function storedPart(page: Buffer): Buffer {
  return page.subarray(0, innerRowAt(childCount(page), 1));
}

/** @param zeros - the empty sub-trees. @returns the page with all rows, which may be the same one, or else in memory of its own */
export function withAllRows(page: Buffer, suite: HashSuite, zeros: readonly Uint8Array[]): Buffer {
  if (hasAllRows(page)) return page;
  const children = childCount(page);
  const [row1At, row3At] = [innerRowAt(children, 1), innerRowAt(children, 3)];
  const all = Buffer.allocUnsafeSlow(innerPageBytes(children));
  all.set(page);
  suite.hashPairsInto(
    all.subarray(innerRowAt(children, 0), innerRowAt(children, 2)),
    children,
    all.subarray(row1At, row3At),
  );
  const row2 = all.subarray(innerRowAt(children, 2), row1At);
  const zero = zeros[lowestHeight(page[1] as number) + 2] as Uint8Array;
  const pairs = rowLength(children, 1) % 2 === 0 ? row2 : Buffer.concat([row2, zero]);
  suite.hashPairsInto(pairs, rowLength(children, 2), all.subarray(row3At));
  return all;
}

/** @returns the nodes of row 0 that differ from an older version with as many children, both as stored: bit i for node i */
export function changedNodes(base: Buffer, page: Buffer): number {
  let changed = 0;
  for (let position = 0; position < childCount(page); position++) {
    // Under the same page are the same nodes.
    if (childPage(base, position) === childPage(page, position)) continue;
    const [left, right] = [rowNodeAt(page, 0, 2 * position), rowNodeAt(page, 0, 2 * position + 1)];
    if (compareWordAt(base, left, page, left) !== 0) changed |= 1 << (2 * position);
    if (compareWordAt(base, right, page, right) !== 0) changed |= 2 << (2 * position);
    // The page's number has changed in any case.
    if (((changed >>> (2 * position)) & 3) === 0) changed |= 1 << (2 * position);
  }
  return changed;
}

function rowNodeAt(page: Buffer, row: number, position: number): number {
  return innerRowAt(childCount(page), row) + position * WORD_BYTES;
}

const steps = new DifferenceSteps();

/**
 * @param changed - as of `changedNodes`, or with more nodes. @param page - as stored
 * @returns the steps from an older version, a view; undefined: more than `most` bytes
 */
export function encodeChangedNodes(changed: number, most: number, page: Buffer): Uint8Array | undefined {
  const children = childCount(page);
  steps.begin(most);
  for (let position = 0, at = HEAD_BYTES; position < children; position++, at += NUMBER_BYTES) {
    if (((changed >>> (2 * position)) & 3) === 0) continue;
    // The number that it replaces is lower, so it begins with these zeros too.
    let zeros = 0;
    while (page[at + zeros] === 0) zeros++;
    steps.replace(page, at + zeros, at + NUMBER_BYTES);
  }
  for (let node = 0, at = innerRowAt(children, 0); node < 2 * children; node++, at += WORD_BYTES)
    if (((changed >>> node) & 1) !== 0) steps.replace(page, at, at + WORD_BYTES);
  for (let node = 0, at = innerRowAt(children, 2); 2 * node < children; node++, at += WORD_BYTES)
    if (((changed >>> (4 * node)) & 15) !== 0) steps.replace(page, at, at + WORD_BYTES);
  return steps.end();
}
