/**
 * A page being changed: its rows as full-size arrays, what is dirty in row 0, and its leaves or children.
 *
 *   rows   row 0 (16 or 8 nodes) | row 1 | row 2 | [row 3]     at full-width offsets; the occupied prefix counts
 */

import type {PairBatch} from "../hash/pairBatch.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {CHILDREN_PER_PAGE, INNER_PAGE_ROWS, LEAF_PAGE_ROWS, LEAVES_PER_PAGE, rowLength} from "./geometry.ts";
import {childCount, childPage, encodeInnerPage, innerPageNodeAt} from "./innerPage.ts";
import {encodeLeafPage, type Leaf, leafAt, leafCount, leafPageNodeAt} from "./leafPage.ts";

/** The rows of one page, of either kind. */
class DraftRows {
  readonly nodes: Uint8Array;
  /** Bit i: entry i of row 0 has changed. */
  dirty = 0;
  private readonly width: number;
  readonly rows: number;

  constructor(width: number, rows: number) {
    this.width = width;
    this.rows = rows;
    this.nodes = new Uint8Array((2 * width - (width >> (rows - 1))) * WORD_BYTES);
  }

  /** Offset of node `position` of `row`. */
  at(row: number, position: number): number {
    return (2 * this.width - ((2 * this.width) >> row) + position) * WORD_BYTES;
  }

  /** Queues the hashes of `row` (>= 1) over changed entries. @param zero - the empty node of the row below */
  hashRow(row: number, entries: number, zero: Uint8Array, batch: PairBatch): void {
    const below = rowLength(entries, row - 1);
    for (let position = 0; position < rowLength(entries, row); position++) {
      if (((this.dirty >> (position << row)) & ((1 << (1 << row)) - 1)) === 0) continue;
      const right = 2 * position + 1 < below ? this.at(row - 1, 2 * position + 1) : -1;
      batch.add(this.nodes, this.at(row - 1, 2 * position), right, zero, this.nodes, this.at(row, position));
    }
  }

  /** Queues the hash of the page's root into `out`. @param zero - the empty node of the highest row */
  hashRoot(entries: number, zero: Uint8Array, batch: PairBatch, out: Uint8Array, outAt: number): void {
    const top = this.rows - 1;
    batch.add(
      this.nodes,
      this.at(top, 0),
      rowLength(entries, top) > 1 ? this.at(top, 1) : -1,
      zero,
      out,
      outAt,
    );
  }

  /** The occupied prefixes of all rows, back to back. */
  cut(entries: number): Uint8Array {
    let length = 0;
    for (let row = 0; row < this.rows; row++) length += rowLength(entries, row) * WORD_BYTES;
    const cut = new Uint8Array(length);
    let out = 0;
    for (let row = 0; row < this.rows; row++) {
      const start = this.at(row, 0);
      const bytes = rowLength(entries, row) * WORD_BYTES;
      cut.set(this.nodes.subarray(start, start + bytes), out);
      out += bytes;
    }
    return cut;
  }
}

export class LeafPageDraft extends DraftRows {
  readonly pageIndex: number;
  /** One entry per position in use; undefined = deleted. */
  readonly leaves: (Leaf | undefined)[] = [];

  /** @param page - what is stored, or undefined for a page that is new */
  constructor(pageIndex: number, page: Buffer | undefined) {
    super(LEAVES_PER_PAGE, LEAF_PAGE_ROWS);
    this.pageIndex = pageIndex;
    if (page === undefined) return;
    const count = leafCount(page);
    for (let position = 0; position < count; position++) this.leaves.push(leafAt(page, position));
    for (let row = 0; row < LEAF_PAGE_ROWS; row++) {
      const start = leafPageNodeAt(page, row, 0);
      this.nodes.set(page.subarray(start, start + rowLength(count, row) * WORD_BYTES), this.at(row, 0));
    }
  }

  setLeaf(position: number, leaf: Leaf | undefined): void {
    this.leaves[position] = leaf;
    this.dirty |= 1 << position;
  }

  encode(spare: number): Buffer {
    return encodeLeafPage(this.leaves, this.cut(this.leaves.length), spare);
  }
}

export class InnerPageDraft extends DraftRows {
  readonly pageIndex: number;
  readonly children: number[] = [];

  constructor(pageIndex: number, page: Buffer | undefined) {
    super(CHILDREN_PER_PAGE, INNER_PAGE_ROWS);
    this.pageIndex = pageIndex;
    if (page === undefined) return;
    const count = childCount(page);
    for (let position = 0; position < count; position++) this.children.push(childPage(page, position));
    for (let row = 0; row < INNER_PAGE_ROWS; row++) {
      const start = innerPageNodeAt(page, row, 0);
      this.nodes.set(page.subarray(start, start + rowLength(count, row) * WORD_BYTES), this.at(row, 0));
    }
  }

  /** The child's root goes to `this.nodes` at `at(0, position)`, by the caller. */
  setChild(position: number, page: number): void {
    this.children[position] = page;
    this.dirty |= 1 << position;
  }

  encode(spare: number): Buffer {
    return encodeInnerPage(this.children, this.cut(this.children.length), spare);
  }
}
