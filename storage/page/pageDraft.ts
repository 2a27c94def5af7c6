/**
 * A page that is being changed: its rows at full width, the changed nodes of row 0, and its leaves or children.
 *
 *   rows   row 0 (8, 16 or 32 nodes) | row 1 | ... | 4 nodes         full width; only the occupied prefix of a row counts
 */

import type {PairBatch} from "../hash/pairBatch.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {CHECKSUM_BYTES} from "../record/record.ts";
import {childrenPerPage, LEAVES_PER_PAGE, rowCount, rowLength, rowStart} from "./geometry.ts";
import {beginInnerPage, childCount, childPage, innerRowsAt, setChildPage} from "./innerPage.ts";
import {type DraftLeaf, encodeLeafPage, KEPT, type Leaf, leafAt, leafCount, leafRowsAt} from "./leafPage.ts";

const NO_PAGE = Buffer.alloc(0);

abstract class DraftRows {
  readonly nodes: Buffer;
  /** Bit i: node i of row 0 has changed. */
  dirty = 0;
  protected readonly rows: number;

  /** @param width - nodes in row 0 of a full page, at most 32. @param head, tail - bytes before and after the rows */
  protected constructor(
    readonly pageIndex: number,
    level: number,
    private readonly width: number,
    private readonly head: number,
    tail: number,
  ) {
    this.rows = rowCount(level);
    // From Node's shared slab, whose other buffers are released at about the same time.
    this.nodes = Buffer.allocUnsafe(this.at(this.rows, 0) + tail);
  }

  protected abstract get occupied(): number;

  at(row: number, position: number): number {
    return this.head + (2 * this.width - ((2 * this.width) >> row) + position) * WORD_BYTES;
  }

  /** Queues the hashes of `row` (>= 1) whose nodes below have changed. @param zero - the empty node of the row below */
  hashRow(row: number, zero: Uint8Array, batch: PairBatch): void {
    const length = rowLength(this.occupied, row);
    for (let position = 0; position < length; position++)
      if (this.isDirty(row, position))
        this.hashNode(row, position, zero, batch, this.nodes, this.at(row, position));
  }

  /**
   * Queues the hashes of the two nodes under the page's root.
   *
   * @param zero - the empty node of the highest row; `zeroAbove` is that of the row of two nodes
   * @param all - hash both halves; otherwise only a changed half, and `out` already has the other
   */
  hashPair(
    zero: Uint8Array,
    zeroAbove: Uint8Array,
    all: boolean,
    batch: PairBatch,
    out: Uint8Array,
    outAt: number,
  ): void {
    for (let half = 0; half < 2; half++) {
      const at = outAt + half * WORD_BYTES;
      if (half >= rowLength(this.occupied, this.rows)) out.set(zeroAbove, at);
      else if (all || this.isDirty(this.rows, half)) this.hashNode(this.rows, half, zero, batch, out, at);
    }
  }

  /** Loads the rows of a stored page. @param start - offset of its row 0. @param occupied - nodes in use in row 0 */
  protected load(page: Buffer, start: number, occupied: number): void {
    for (let row = 0; row < this.rows; row++) {
      const from = start + rowStart(occupied, row) * WORD_BYTES;
      this.nodes.set(page.subarray(from, from + rowLength(occupied, row) * WORD_BYTES), this.at(row, 0));
    }
  }

  protected writeRows(page: Buffer, rowsAt: number): Buffer {
    const {occupied} = this;
    for (let row = 0; row < this.rows; row++) {
      const start = this.at(row, 0);
      this.nodes.copy(
        page,
        rowsAt + rowStart(occupied, row) * WORD_BYTES,
        start,
        start + rowLength(occupied, row) * WORD_BYTES,
      );
    }
    return page;
  }

  private isDirty(row: number, position: number): boolean {
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

  /** @param stored - without bytes for a new page */
  constructor(
    pageIndex: number,
    private readonly stored: Buffer = NO_PAGE,
  ) {
    super(pageIndex, 0, LEAVES_PER_PAGE, 0, 0);
    if (stored.length === 0) return;
    const count = leafCount(stored);
    for (let position = 0; position < count; position++) this.leaves.push(KEPT);
    this.load(stored, leafRowsAt(count), count);
  }

  get occupied(): number {
    return this.leaves.length;
  }

  leafAt(position: number): Leaf | undefined {
    const leaf = this.leaves[position];
    if (leaf !== KEPT) return leaf;
    const decoded = leafAt(this.stored, position);
    this.leaves[position] = decoded;
    return decoded;
  }

  setLeaf(position: number, leaf: Leaf | undefined): void {
    this.leaves[position] = leaf;
    this.dirty |= 1 << position;
  }

  encode(spare: number): Buffer {
    const page = encodeLeafPage(this.leaves, this.stored, spare);
    return this.writeRows(page, leafRowsAt(this.leaves.length));
  }
}

/** `nodes` is the page itself: a full page is copied when it is read, but not when it is written. */
export class InnerPageDraft extends DraftRows {
  /** The page is not stored yet, so its rows lack the nodes of children that are stored. */
  readonly isNew: boolean;

  /** @param page - the stored page, or undefined for a new page */
  constructor(
    pageIndex: number,
    private readonly level: number,
    page: Buffer | undefined,
  ) {
    const most = childrenPerPage(level);
    super(pageIndex, level, 2 * most, innerRowsAt(most), CHECKSUM_BYTES);
    this.isNew = page === undefined;
    if (page === undefined) beginInnerPage(this.nodes);
    else {
      const count = childCount(page);
      this.nodes.set(count === most ? page : page.subarray(0, innerRowsAt(count)));
      if (count < most) this.load(page, innerRowsAt(count), 2 * count);
    }
  }

  protected get occupied(): number {
    return 2 * childCount(this.nodes);
  }

  /** @returns 0 if there is none */
  child(position: number): number {
    return position < childCount(this.nodes) ? childPage(this.nodes, position) : 0;
  }

  /** At most one after the last. The caller writes the child's two nodes to `nodes` at `at(0, 2 * position)`. */
  setChild(position: number, page: number): void {
    setChildPage(this.nodes, position, page);
    this.dirty |= 3 << (2 * position);
  }

  /** The draft must not be changed afterwards. @param spare - at most CHECKSUM_BYTES */
  encode(spare: number): Buffer {
    const count = childCount(this.nodes);
    const rowsAt = innerRowsAt(count);
    const end = rowsAt + rowStart(this.occupied, this.rows) * WORD_BYTES;
    if (count === childrenPerPage(this.level)) return this.nodes.subarray(0, end + spare);
    const page = Buffer.allocUnsafe(end + spare);
    page.set(this.nodes.subarray(0, rowsAt));
    return this.writeRows(page, rowsAt);
  }
}
