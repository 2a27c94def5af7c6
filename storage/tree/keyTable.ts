/**
 * Which leaves of a tree prove a list of keys, and which leaf serves which key (docs/proofs.md, 9.2):
 *
 *   keys          k0      k1      k2                 in the order in which they were asked for, duplicates too
 *   lefts         2       0       2                  numbers of leaves: their places in leafIndexes
 *   rights        -       1       -                  PRESENT: the leaf named by `lefts` has the key
 *   leafIndexes   5       9       300                ascending, each leaf once
 *   ownKeys       -1      -1      0                  the first key that is present at the leaf
 */
import {LeafPageView} from "./leafPageView.ts";
import type {Tree} from "./tree.ts";

/** A leaf number in the bytes of a multiproof has 15 bits, and a key needs up to two leaves. */
export const MAX_PROVED_KEYS = 2 ** 14;
/** In `rights`: the key is present. */
export const PRESENT = 0xffff;
/** In `ownKeys`: no key is present at the leaf. */
export const NO_KEY = -1;

export interface KeyTable {
  readonly lefts: Uint16Array;
  readonly rights: Uint16Array;
  readonly leafIndexes: Float64Array;
  readonly ownKeys: Int32Array;
  /** Leaf pages that the search has read, by leaf index. Not of every leaf. */
  readonly pages: ReadonlyMap<number, Buffer>;
}

/**
 * @param hKeys - 32 bytes each: 1 to MAX_PROVED_KEYS
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function locateKeys(tree: Tree, hKeys: readonly Uint8Array[]): KeyTable {
  const count = hKeys.length;
  if (count > MAX_PROVED_KEYS) throw new RangeError(`${count} keys: at most ${MAX_PROVED_KEYS}`);
  const pages = new Map<number, Buffer>();
  // By key: its leaf, or its left and right neighbours. -1 on the right: present.
  const left = new Float64Array(count);
  const right = new Float64Array(count);
  const view = new LeafPageView();
  for (let key = 0; key < count; key++) {
    view.clear();
    const position = tree.locate(view, hKeys[key] as Uint8Array);
    if (position.present) {
      left[key] = position.leafIndex;
      right[key] = -1;
      if (view.page !== undefined) pages.set(position.leafIndex, view.page);
    } else {
      left[key] = position.leftLeafIndex;
      right[key] = position.rightLeafIndex;
    }
  }
  const leafIndexes = sortedOnce(left, right);
  const table = {
    lefts: new Uint16Array(count),
    rights: new Uint16Array(count).fill(PRESENT),
    leafIndexes,
    ownKeys: new Int32Array(leafIndexes.length).fill(NO_KEY),
    pages,
  };
  for (let key = count - 1; key >= 0; key--) {
    const leaf = numberOf(leafIndexes, left[key] as number);
    table.lefts[key] = leaf;
    if ((right[key] as number) < 0) table.ownKeys[leaf] = key;
    else table.rights[key] = numberOf(leafIndexes, right[key] as number);
  }
  return table;
}

/** All numbers of both lists that are not negative, ascending, each once. */
function sortedOnce(left: Float64Array, right: Float64Array): Float64Array {
  const all = new Float64Array(left.length + right.length);
  all.set(left);
  all.set(right, left.length);
  all.sort();
  let kept = 0;
  for (let at = 0; at < all.length; at++) {
    const leafIndex = all[at] as number;
    if (leafIndex >= 0 && (kept === 0 || leafIndex !== all[kept - 1])) all[kept++] = leafIndex;
  }
  return all.slice(0, kept);
}

/** The place of `leafIndex` in the list, which has it. */
function numberOf(leafIndexes: Float64Array, leafIndex: number): number {
  let low = 0;
  let high = leafIndexes.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((leafIndexes[middle] as number) < leafIndex) low = middle + 1;
    else high = middle;
  }
  return low;
}
