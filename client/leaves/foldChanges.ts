/**
 * Folds two versions of a tree at the same time, and reads the leaves that differ (docs/proofs.md, 16.3).
 *
 *   before, after    height 0: left, right | height 1: left, right | ...          32 bytes each, one row of two nodes a height
 */
import {isEqual} from "../bytes/byteString.ts";
import type {ByteReader} from "../compact/byteReader.ts";
import {encodeRootNode, type HashSuite, ZERO_WORD, zeroSubTrees} from "../hash/hashSuites.ts";
import {DEPTH} from "../proof/leafProof.ts";
import {check} from "../proof/strictJson.ts";
import {readNode} from "./foldRange.ts";
import {LeafReader} from "./leafReader.ts";
import type {AccountLeaf, EndLeaf, KeyedLeaf, RemovedLeaf, SlotLeaf, TreeKind} from "./treeLeaf.ts";

/** A leaf that is not the same at both blocks. */
export interface LeafChange<Keyed extends KeyedLeaf> {
  readonly leafIndex: number;
  /** At the first block; undefined: there was no such leaf. */
  readonly before: Keyed | EndLeaf | undefined;
  /** At the second block, as above. If only links differ, its `hVal` is that of `before`. */
  readonly after: Keyed | EndLeaf | undefined;
}

export interface OpenedLeaves {
  readonly from: number;
  readonly last: number;
  /** true: the last leaf differs but is not opened. The answer ends there. */
  readonly isLastClosed: boolean;
}

type KeyedOf<Kind extends TreeKind> = Kind extends "accounts" ? AccountLeaf : SlotLeaf;
type FoldedLeaf<Kind extends TreeKind> = KeyedOf<Kind> | EndLeaf | RemovedLeaf;

const NODE_BYTES = 32;
const PAIR_BYTES = 2 * NODE_BYTES;
/** A new tree has head and tail. */
const MIN_POSITIONS = 2;

export class ChangesFold<Kind extends TreeKind> {
  /** Was the last leaf met, if it is closed? */
  isLastMet = false;
  private readonly before = new Uint8Array((DEPTH + 1) * PAIR_BYTES);
  private readonly after = new Uint8Array((DEPTH + 1) * PAIR_BYTES);
  private readonly beforePositions: number;
  private readonly afterPositions: number;
  private readonly leaves: LeafReader;

  /** @param onChange - called for each leaf. It may read what follows the leaf. @throws ProofError */
  constructor(
    private readonly suite: HashSuite,
    private readonly reader: ByteReader,
    private readonly bits: FlagBits,
    kind: Kind,
    private readonly opened: OpenedLeaves,
    private readonly onChange: (change: LeafChange<KeyedOf<Kind>>) => void,
  ) {
    this.beforePositions = reader.uint(5);
    this.afterPositions = reader.uint(5);
    const least = Math.min(this.beforePositions, this.afterPositions);
    check(least >= MIN_POSITIONS, "nextFreeNode", `is below ${MIN_POSITIONS}`);
    this.leaves = new LeafReader(suite, reader, kind, this.positions);
  }

  /** @returns the roots that both versions fold to, which the caller compares. @throws ProofError */
  fold(): readonly [before: Uint8Array, after: Uint8Array] {
    let height = 0;
    while (2 ** height < this.positions) height++;
    this.visit(height, 0);
    return [
      this.rootOf(this.before, height, this.beforePositions),
      this.rootOf(this.after, height, this.afterPositions),
    ];
  }

  private get positions(): number {
    return Math.max(this.beforePositions, this.afterPositions);
  }

  /** Above `height` there is nothing on the right. */
  private rootOf(rows: Uint8Array, height: number, nextFreeNode: number): Uint8Array {
    const zero = zeroSubTrees(this.suite);
    const pair = new Uint8Array(PAIR_BYTES);
    pair.set(rows.subarray(height * PAIR_BYTES, height * PAIR_BYTES + NODE_BYTES));
    for (let at = height; at < DEPTH; at++) {
      pair.set(zero[at] as Uint8Array, NODE_BYTES);
      pair.set(this.suite.hash(pair));
    }
    return this.suite.hash(encodeRootNode(this.suite, nextFreeNode, pair.subarray(0, NODE_BYTES)));
  }

  /** Puts both nodes at their place. Hot: runs some 40 times per leaf. */
  private visit(height: number, index: number): void {
    const {before, after, beforePositions, afterPositions} = this;
    const start = index * 2 ** height;
    const at = height * PAIR_BYTES + (index % 2) * NODE_BYTES;
    const isInBoth = start < beforePositions && start < afterPositions;
    if ((start >= beforePositions && start >= afterPositions) || !this.bits.read()) {
      const node = isInBoth
        ? readNode(this.suite, this.reader)
        : (zeroSubTrees(this.suite)[height] as Uint8Array);
      before.set(node, at);
      after.set(node, at);
      return;
    }
    if (!this.isOpen(start, height)) this.readNodes(start, height, at);
    else if (height === 0) this.readLeaf(start, at);
    else {
      this.visit(height - 1, 2 * index);
      this.visit(height - 1, 2 * index + 1);
      const row = (height - 1) * PAIR_BYTES;
      before.set(this.suite.hash(before.subarray(row, row + PAIR_BYTES)), at);
      after.set(this.suite.hash(after.subarray(row, row + PAIR_BYTES)), at);
    }
    check(
      !isEqual(before.subarray(at, at + NODE_BYTES), after.subarray(at, at + NODE_BYTES)),
      () => `node ${index} of height ${height}`,
      "is marked as different, but is the same",
    );
  }

  private isOpen(start: number, height: number): boolean {
    const {from, last, isLastClosed} = this.opened;
    if (start + 2 ** height <= from || start > last) return false;
    if (height > 0 || start < last || !isLastClosed) return true;
    this.isLastMet = true;
    return false;
  }

  private readNodes(start: number, height: number, at: number): void {
    const zero = zeroSubTrees(this.suite)[height] as Uint8Array;
    this.before.set(start < this.beforePositions ? readNode(this.suite, this.reader) : zero, at);
    this.after.set(start < this.afterPositions ? readNode(this.suite, this.reader) : zero, at);
  }

  private readLeaf(leafIndex: number, at: number): void {
    const {leaves, beforePositions, afterPositions} = this;
    let before: FoldedLeaf<Kind> | undefined;
    let after: FoldedLeaf<Kind> | undefined;
    this.before.set(ZERO_WORD, at);
    this.after.set(ZERO_WORD, at);
    if (leafIndex < beforePositions) {
      before = leaves.read(leafIndex, beforePositions) as FoldedLeaf<Kind>;
      this.before.set(leaves.hash, at);
    }
    if (leafIndex < afterPositions) {
      const hasKey = before !== undefined && before.role !== "removed" && before.role !== "end";
      after = this.readAfter(leafIndex, hasKey ? (before as KeyedOf<Kind>) : undefined);
      this.after.set(leaves.hash, at);
    }
    this.onChange({leafIndex, before: present(before), after: present(after)});
  }

  /** @param before - the leaf as it was, whose key is not sent again */
  private readAfter(leafIndex: number, before: KeyedOf<Kind> | undefined): FoldedLeaf<Kind> {
    const {leaves, afterPositions} = this;
    if (before !== undefined && !this.bits.read()) return leaves.readLinked(afterPositions, before);
    const after = leaves.read(leafIndex, afterPositions, before) as FoldedLeaf<Kind>;
    const isOther = before === undefined || after.role === "removed" || !isEqual(after.hVal, before.hVal);
    check(isOther, () => `leaf ${leafIndex}`, "an unchanged value is sent again");
    return after;
  }
}

function present<Leaf extends KeyedLeaf | EndLeaf>(leaf: Leaf | RemovedLeaf | undefined): Leaf | undefined {
  return leaf === undefined || leaf.role === "removed" ? undefined : (leaf as Leaf);
}

/**
 * The flag bits of an answer, which lie between its other bytes (docs/proofs.md, 16.2):
 *
 *   | bits 0 to 7 | what the answer has up to bit 8 | bits 8 to 15 | ...      the first bit of a byte is its highest
 */
export class FlagBits {
  private byte = 0;
  private unused = 0;

  constructor(private readonly reader: ByteReader) {}

  read(): boolean {
    if (this.unused === 0) {
      this.byte = this.reader.uint(1);
      this.unused = 8;
    }
    this.unused--;
    return ((this.byte >> this.unused) & 1) === 1;
  }

  /** No bit may follow. @throws ProofError */
  end(): void {
    const isClear = (this.byte & ((1 << this.unused) - 1)) === 0;
    check(isClear, () => this.reader.place(), "a bit that has no meaning is set");
  }
}
