/** A page that is being changed: its rows, the changed nodes of row 0, and its leaves or children. */

import type {PairBatch} from "../hash/pairBatch.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {INNER_ROWS, LEAVES_PER_PAGE, rowLength, SMALL_TREE} from "./geometry.ts";
import {
  beginInnerPage,
  changedNodes,
  childCount,
  childPage,
  encodeChangedNodes,
  innerPageBytes,
  innerRowAt,
  setChildPage,
} from "./innerPage.ts";
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
import type {ReplacedPage} from "./pageDifference.ts";

const NO_PAGE = Buffer.alloc(0);

abstract class DraftRows {
  /** Bit i: node i of row 0 has changed. */
  dirty = 0;
  /** Both nodes under the page's root are needed, not only a changed one. To be set before the rows are hashed. */
  needsBoth = false;

  /** @param nodes - where the rows are, and perhaps more. From Node's shared slab, whose other buffers are soon released */
  protected constructor(
    readonly pageIndex: number,
    readonly rows: number,
    readonly nodes: Buffer,
  ) {}

  /** Nodes of row 0 in use. */
  protected abstract get occupied(): number;

  /** Where a node is in `nodes`. */
  abstract at(row: number, position: number): number;

  /** Queues the hashes of `row` (>= 1) whose nodes below have changed. @param zero - the empty node of the row below */
  hashRow(row: number, zero: Uint8Array, batch: PairBatch): void {
    const length = rowLength(this.occupied, row);
    for (let position = 0; position < length; position++)
      if (this.needs(row, position))
        this.hashNode(row, position, zero, batch, this.nodes, this.at(row, position));
  }

  /** The nodes under the page's root that `hashPair` makes: bit 0 for the left one, bit 1 for the right one. */
  get halves(): number {
    if (this.needsBoth) return 3;
    return (this.isDirty(this.rows, 0) ? 1 : 0) | (this.isDirty(this.rows, 1) ? 2 : 0);
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
      else if (((this.halves >> half) & 1) === 1) this.hashNode(this.rows, half, zero, batch, out, at);
    }
  }

  /** @param row - >= 1. @returns whether the node has to be hashed */
  protected needs(row: number, position: number): boolean {
    return this.isDirty(row, position);
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

/** Rows are at full width; only the occupied prefix of a row counts. */
export class LeafPageDraft extends DraftRows {
  /** One per position in use; undefined = deleted. Leaves of the stored page are decoded when they are first read. */
  private readonly leaves: DraftLeaf[] = [];

  /** @param leavesPerPage - of a small tree or of another one. @param stored - without bytes for a new page */
  constructor(
    pageIndex: number,
    private readonly leavesPerPage: number,
    private readonly stored: Buffer = NO_PAGE,
  ) {
    const rows = leavesPerPage === SMALL_TREE ? 2 : 1;
    super(pageIndex, rows, Buffer.allocUnsafe(fullRowAt(leavesPerPage, rows)));
    if (stored.length === 0) return;
    const count = leafCount(stored);
    for (let position = 0; position < count; position++) this.leaves.push(KEPT);
    for (let row = 0; row < rows; row++) {
      const from = leafRowAt(count, row);
      stored.copy(this.nodes, this.at(row, 0), from, from + rowLength(count, row) * WORD_BYTES);
    }
  }

  get occupied(): number {
    return this.leaves.length;
  }

  at(row: number, position: number): number {
    return fullRowAt(this.leavesPerPage, row) + position * WORD_BYTES;
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
    for (let row = 0; row < this.rows; row++) {
      const from = this.at(row, 0);
      this.nodes.copy(page, leafRowAt(count, row), from, from + rowLength(count, row) * WORD_BYTES);
    }
    return page;
  }
}

function fullRowAt(width: number, row: number): number {
  return (2 * width - ((2 * width) >> row)) * WORD_BYTES;
}

/**
 * The page with all rows (innerPage.ts). Rows 1 and 3, which are not stored, have only the nodes under which something
 * has changed, and their siblings.
 */
export class InnerPageDraft extends DraftRows {
  /** Children of the stored page; 0 if there is none: then the rows lack the nodes of children that are stored. */
  private readonly before: number;

  /** @param children - after the change. @param stored - as it is stored, or undefined for a new page */
  constructor(
    pageIndex: number,
    level: number,
    private readonly children: number,
    stored: Buffer | undefined,
  ) {
    super(pageIndex, INNER_ROWS, Buffer.allocUnsafe(innerPageBytes(children)));
    this.before = stored === undefined ? 0 : childCount(stored);
    if (this.before === children) this.nodes.set(stored as Buffer);
    else {
      beginInnerPage(this.nodes, level, children);
      if (stored !== undefined) this.loadShorter(stored);
    }
  }

  get isNew(): boolean {
    return this.before === 0;
  }

  protected get occupied(): number {
    return 2 * this.children;
  }

  at(row: number, position: number): number {
    return innerRowAt(this.children, row) + position * WORD_BYTES;
  }

  /** @returns 0 if the stored page does not have it */
  child(position: number): number {
    return position < this.before ? childPage(this.nodes, position) : 0;
  }

  /** @param halves - bits 0 and 1: which of its two nodes the caller writes to `nodes` at `at(0, 2 * position)` */
  setChild(position: number, page: number, halves: number): void {
    setChildPage(this.nodes, position, page);
    this.dirty |= halves << (2 * position);
  }

  /** How the page has changed; undefined if its nodes are at other places than before. */
  get parts(): ReplacedPage["parts"] {
    if (this.before !== this.children) return undefined;
    return {changed: this.dirty, compare: changedNodes, encode: encodeChangedNodes};
  }

  /** As it is stored, a view. Row 1 is not needed any more: the spare bytes are there. */
  encode(spare: number): Buffer {
    return this.nodes.subarray(0, this.at(1, 0) + spare);
  }

  /** The node above a node of row 1 or 3 is hashed from it and its sibling. */
  protected override needs(row: number, position: number): boolean {
    if (row % 2 === 0) return this.isDirty(row, position);
    return (row + 1 === INNER_ROWS && this.needsBoth) || this.isDirty(row + 1, position >> 1);
  }

  private loadShorter(stored: Buffer): void {
    const {before} = this;
    for (let position = 0; position < before; position++)
      setChildPage(this.nodes, position, childPage(stored, position));
    this.nodes.set(stored.subarray(innerRowAt(before, 0), innerRowAt(before, 2)), this.at(0, 0));
    this.nodes.set(stored.subarray(innerRowAt(before, 2), innerRowAt(before, 1)), this.at(2, 0));
  }
}
