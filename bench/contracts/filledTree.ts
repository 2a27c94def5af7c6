/**
 * A tree of any size at the cost of the paths that are opened: a sub-tree that none of them enters is a random digest. What a
 * proof costs depends on where sub-trees are empty, and not on what the others hold.
 */
import {createHash} from "node:crypto";
import type {OpenedKey, OpenedLeaf} from "../../client/compact/openedPaths.ts";
import {
  encodeLeafOpening,
  type HashSuite,
  type LeafOpening,
  zeroSubTrees,
} from "../../client/hash/hashSuites.ts";

const DEPTH = 40;

/** @returns a digest of both suites, the same in every run: all limbs are below p */
export function fakeDigest(seed: string): Uint8Array {
  return createHash("sha256")
    .update(seed)
    .digest()
    .map((byte, i) => (i % 4 === 0 ? byte & 0x3f : byte));
}

/** A key, and its value if it is in the tree. */
interface FilledKey {
  readonly hKey: Uint8Array;
  readonly present?: {readonly value: Uint8Array; readonly hVal: Uint8Array};
}

type Place =
  | {readonly own: number; readonly value: Uint8Array}
  | {readonly left: number; readonly right: number};

export class FilledTree {
  private readonly nextFreeNode: number;
  private readonly zero: readonly Uint8Array[];
  private readonly leaves = new Map<number, LeafOpening>();
  private drawn = 0;

  /** @param count - number of leaves besides head and tail; none was ever deleted */
  constructor(
    private readonly suite: HashSuite,
    private readonly seed: string,
    count: number,
  ) {
    this.nextFreeNode = count + 2;
    this.zero = zeroSubTrees(suite);
  }

  /** Puts a leaf at a random position for each present key, and two neighbours for each absent one. */
  open(keys: readonly FilledKey[]): OpenedKey[] {
    const places = keys.map(({hKey, present}): Place => {
      if (present !== undefined) {
        const own = this.drawIndex();
        this.leaves.set(own, {prev: this.drawIndex(), next: this.drawIndex(), hKey, hVal: present.hVal});
        return {own, value: present.value};
      }
      const [left, right] = [this.drawIndex(), this.drawIndex()];
      const hVal = fakeDigest(`${this.seed} neighbour ${left}`);
      this.leaves.set(left, {prev: this.drawIndex(), next: right, hKey: beside(hKey, -1), hVal});
      this.leaves.set(right, {prev: left, next: this.drawIndex(), hKey: beside(hKey, 1), hVal});
      return {left, right};
    });
    const {nextFreeNode} = this;
    return places.map(place =>
      "own" in place
        ? {nextFreeNode, leaf: this.openLeaf(place.own), value: place.value}
        : {nextFreeNode, left: this.openLeaf(place.left), right: this.openLeaf(place.right)},
    );
  }

  private openLeaf(leafIndex: number): OpenedLeaf {
    const siblings = Array.from({length: DEPTH}, (_, height) => {
      const position = Math.floor(leafIndex / 2 ** height);
      return this.node(height, position % 2 === 0 ? position + 1 : position - 1);
    });
    return {leafIndex, ...(this.leaves.get(leafIndex) as LeafOpening), siblings};
  }

  private node(height: number, position: number): Uint8Array {
    const size = 2 ** height;
    if (position * size >= this.nextFreeNode) return this.zero[height] as Uint8Array;
    const isEntered = [...this.leaves.keys()].some(index => Math.floor(index / size) === position);
    if (!isEntered) return fakeDigest(`${this.seed} ${height} ${position}`);
    if (height === 0)
      return this.suite.hash(encodeLeafOpening(this.suite, this.leaves.get(position) as LeafOpening));
    return this.suite.hashPair(this.node(height - 1, 2 * position), this.node(height - 1, 2 * position + 1));
  }

  /** A position that no leaf has yet, the same in every run. */
  private drawIndex(): number {
    for (;;) {
      const random = createHash("sha256")
        .update(`${this.seed} index ${this.drawn++}`)
        .digest()
        .readUIntBE(0, 6);
      const index = 2 + (random % (this.nextFreeNode - 2));
      if (!this.leaves.has(index)) return index;
    }
  }
}

/** A digest just below or above another one. */
function beside(hKey: Uint8Array, step: 1 | -1): Uint8Array {
  return hKey.with(1, (hKey[1] as number) + step);
}
