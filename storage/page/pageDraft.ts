/**
 * A page that is being changed: its rows at full width, the changed nodes of row 0, and its leaves or children.
 *
 *   rows   row 0 (4, 8 or 32 nodes) | row 1 | ... | 4 nodes         full width; only the occupied prefix of a row counts
 */

import type {PairBatch} from "../hash/pairBatch.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {CHILDREN, INNER_ROWS, LEAVES_PER_PAGE, rowLength, SMALL_TREE} from "./geometry.ts";
import {beginInnerPage, childCount, childPage, innerRowAt, setChildPage} from "./innerPage.ts";
import {
  type DraftLeaf,
  encodeLeafPage,
  KEPT,
  LEAF_PAGE,
  type Leaf,
  leafAt,
  leafCount,
  leafRowAt,
  SMALL_TREE_PAGE,
} from "./leafPage.ts";

const NO_PAGE = Buffer.alloc(0);

abstract class DraftRows {
  readonly nodes: Buffer;
  /** Bit i: node i of row 0 has changed. */
  dirty = 0;
  /** Both nodes under the page's root are needed, not only a changed one. To be set before the rows are hashed. */
  needsBoth = false;

  /** @param width - nodes in row 0 of a full page, at most 32 */
  protected constructor(
    readonly pageIndex: number,
    private readonly width: number,
    readonly rows: number,
  ) {
    // From Node's shared slab, whose other buffers are released at about the same time.
    this.nodes = Buffer.allocUnsafe(this.at(rows, 0));
  }

  protected abstract get occupied(): number;

  at(row: number, position: number): number {
    return (2 * this.width - ((2 * this.width) >> row) + position) * WORD_BYTES;
  }

  /** Queues the hashes of `row` (>= 1) whose nodes below have changed. @param zero - the empty node of the row below */
  hashRow(row: number, zero: Uint8Array, batch: PairBatch): void {
    const length = rowLength(this.occupied, row);
    for (let position = 0; position < length; position++)
      if (this.needs(row, position))
        this.hashNode(row, position, zero, batch, this.nodes, this.at(row, position));
  }

  /**
   * Queues the hashes of the two nodes under the page's root. Without `needsBoth`, `out` already has an unchanged one.
   *
   * @param zero - the empty node of the highest row; `zeroAbove` is that of the row of two nodes
   */
  hashPair(zero: Uint8Array, zeroAbove: Uint8Array, batch: PairBatch, out: Uint8Array, outAt: number): void {
    for (let half = 0; half < 2; half++) {
      const at = outAt + half * WORD_BYTES;
      if (half >= rowLength(this.occupied, this.rows)) out.set(zeroAbove, at);
      else if (this.needsBoth || this.isDirty(this.rows, half))
        this.hashNode(this.rows, half, zero, batch, out, at);
    }
  }

  /** @param row - >= 1. @returns whether the node has to be hashed */
  protected needs(row: number, position: number): boolean {
    return this.isDirty(row, position);
  }

  protected loadRow(page: Buffer, from: number, row: number): void {
    const bytes = rowLength(this.occupied, row) * WORD_BYTES;
    this.nodes.set(page.subarray(from, from + bytes), this.at(row, 0));
  }

  protected writeRow(page: Buffer, to: number, row: number): void {
    const from = this.at(row, 0);
    this.nodes.copy(page, to, from, from + rowLength(this.occupied, row) * WORD_BYTES);
  }

  protected isDirty(row: number, position: number): boolean {
    return ((this.dirty >>> (position << row)) & ((1 << (1 << row)) - 1)) !== 0;
  }

  private hashNode(
    row: number,
    position: number,
    zero: Uint8Array,
    batch: PairBatch,
    out: Uint8Array,
    outAt: number,
  ): void {
    const left = this.at(row - 1, 2 * position);
    const hasRight = 2 * position + 1 < rowLength(this.occupied, row - 1);
    batch.add(this.nodes, left, hasRight ? left + WORD_BYTES : -1, zero, out, outAt);
  }
}

export class LeafPageDraft extends DraftRows {
  /** One per position in use; undefined = deleted. Leaves of the stored page are decoded when they are first read. */
  private readonly leaves: DraftLeaf[] = [];

  /** @param leavesPerPage - of a small tree or of another one. @param stored - without bytes for a new page */
  constructor(
    pageIndex: number,
    private readonly leavesPerPage: number,
    private readonly stored: Buffer = NO_PAGE,
  ) {
    super(pageIndex, leavesPerPage, leavesPerPage === SMALL_TREE ? 2 : 1);
    if (stored.length === 0) return;
    const count = leafCount(stored);
    for (let position = 0; position < count; position++) this.leaves.push(KEPT);
    for (let row = 0; row < this.rows; row++) this.loadRow(stored, leafRowAt(count, row), row);
  }

  get occupied(): number {
    return this.leaves.length;
  }

  /** @param leafIndex - in the tree or in the page */
  leafAt(leafIndex: number): Leaf | undefined {
    const position = leafIndex % this.leavesPerPage;
    const leaf = this.leaves[position];
    if (leaf !== KEPT) return leaf;
    const decoded = leafAt(this.stored, position);
    this.leaves[position] = decoded;
    return decoded;
  }

  setLeaf(leafIndex: number, leaf: Leaf | undefined): void {
    const position = leafIndex % this.leavesPerPage;
    this.leaves[position] = leaf;
    this.dirty |= 1 << position;
  }

  /** The leaves of a small tree that grows, in pages of a larger one. All count as changed. */
  split(): LeafPageDraft[] {
    const pages: LeafPageDraft[] = [];
    for (let leafIndex = 0; leafIndex < this.leaves.length; leafIndex++) {
      if (leafIndex % LEAVES_PER_PAGE === 0)
        pages.push(new LeafPageDraft(leafIndex / LEAVES_PER_PAGE, LEAVES_PER_PAGE));
      pages.at(-1)?.setLeaf(leafIndex, this.leafAt(leafIndex));
    }
    return pages;
  }

  encode(spare: number): Buffer {
    const count = this.leaves.length;
    const kind = this.leavesPerPage === SMALL_TREE ? SMALL_TREE_PAGE : LEAF_PAGE;
    const page = encodeLeafPage(kind, this.leaves, this.stored, spare);
    for (let row = 0; row < this.rows; row++) this.writeRow(page, leafRowAt(count, row), row);
    return page;
  }
}

const CHILDREN_BYTES = innerRowAt(CHILDREN, 0);
const STORED_ROWS = [0, 2];

/** Rows 1 and 3, which are not stored, have only the nodes under which something has changed, and their siblings. */
export class InnerPageDraft extends DraftRows {
  /** The page is not stored yet, so its rows lack the nodes of children that are stored. */
  readonly isNew: boolean;
  /** The page up to row 0. */
  private readonly children = Buffer.allocUnsafe(CHILDREN_BYTES);

  /** @param page - as it is stored or with all rows, or undefined for a new page */
  constructor(pageIndex: number, level: number, page: Buffer | undefined) {
    super(pageIndex, 2 * CHILDREN, INNER_ROWS);
    this.isNew = page === undefined;
    if (page === undefined) {
      beginInnerPage(this.children, level);
      return;
    }
    const count = childCount(page);
    this.children.set(page.subarray(0, innerRowAt(count, 0)));
    for (const row of STORED_ROWS) this.loadRow(page, innerRowAt(count, row), row);
  }

  protected get occupied(): number {
    return 2 * childCount(this.children);
  }

  /** @returns 0 if there is none */
  child(position: number): number {
    return position < childCount(this.children) ? childPage(this.children, position) : 0;
  }

  /** At most one after the last. The caller writes the child's two nodes to `nodes` at `at(0, 2 * position)`. */
  setChild(position: number, page: number): void {
    setChildPage(this.children, position, page);
    this.dirty |= 3 << (2 * position);
  }

  /** As it is stored. */
  encode(spare: number): Buffer {
    const count = childCount(this.children);
    const page = Buffer.allocUnsafe(innerRowAt(count, 1) + spare);
    page.set(this.children.subarray(0, innerRowAt(count, 0)));
    for (const row of STORED_ROWS) this.writeRow(page, innerRowAt(count, row), row);
    return page;
  }

  /** The node above a node of row 1 or 3 is hashed from it and its sibling. */
  protected override needs(row: number, position: number): boolean {
    if (row % 2 === 0) return this.isDirty(row, position);
    return (row + 1 === INNER_ROWS && this.needsBoth) || this.isDirty(row + 1, position >> 1);
  }
}
