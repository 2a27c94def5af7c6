/**
 * Which leaves of a tree prove a list of keys, and which leaf serves which key (docs/proofs.md, 9.2):
 *
 *   keys          k0      k1      k2                 in the order in which they were asked for, duplicates too
 *   lefts         2       0       2                  numbers of leaves: their places in leafIndexes
 *   rights        -       1       -                  PRESENT: the leaf named by `lefts` has the key
 *   leafIndexes   5       9       300                ascending, each leaf once
 *   ownKeys       -1      -1      0                  the first key that is present at the leaf
 */
import {countBelow} from "../bisect.ts";
import {LeafView} from "./leafView.ts";
import type {Tree} from "./tree.ts";

/** A leaf number in the bytes of a multiproof has 15 bits, and a key needs up to two leaves. */
const MAX_PROVED_KEYS = 2 ** 14;
export const PRESENT = 0xffff;
/** In `ownKeys`: no key is present at the leaf. */
export const NO_KEY = -1;
/** In place of a right neighbour's leaf index: the key is present. */
const OWN_LEAF = -1;

export interface KeyTable {
  readonly lefts: Uint16Array;
  readonly rights: Uint16Array;
  readonly leafIndexes: Float64Array;
  readonly ownKeys: Int32Array;
  /** By leaf: its page, if the search has read it. */
  readonly pages: readonly (Buffer | undefined)[];
}

/**
 * Hot: loops once per key. @param hKeys - 1 to MAX_PROVED_KEYS of 32 bytes. @param onKey - before each look-up
 *
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function locateKeys(tree: Tree, hKeys: readonly Uint8Array[], onKey = () => {}): KeyTable {
  const count = hKeys.length;
  if (count > MAX_PROVED_KEYS) throw new RangeError(`${count} keys: at most ${MAX_PROVED_KEYS}`);
  /** By key: the leaf index of its leaf or of its left neighbour, and that of its right neighbour or OWN_LEAF. */
  const places = {left: new Float64Array(count), right: new Float64Array(count)};
  const read: (Buffer | undefined)[] = [];
  const view = new LeafView();
  for (let key = 0; key < count; key++) {
    onKey();
    view.clear();
    const position = tree.open(view, hKeys[key] as Uint8Array);
    places.left[key] = position.present ? position.leafIndex : position.leftLeafIndex;
    places.right[key] = position.present ? OWN_LEAF : position.rightLeafIndex;
    read.push(view.page);
  }
  const leafIndexes = sortOnce(places.left, places.right);
  const lefts = new Uint16Array(count);
  const rights = new Uint16Array(count);
  const ownKeys = new Int32Array(leafIndexes.length).fill(NO_KEY);
  for (let key = count - 1; key >= 0; key--) {
    const leaf = numberOf(leafIndexes, places.left[key] as number);
    const right = places.right[key] as number;
    lefts[key] = leaf;
    rights[key] = right === OWN_LEAF ? PRESENT : numberOf(leafIndexes, right);
    if (right === OWN_LEAF) ownKeys[leaf] = key;
  }
  const pages = Array.from(ownKeys, own => (own === NO_KEY ? undefined : read[own]));
  return {lefts, rights, leafIndexes, ownKeys, pages};
}

function sortOnce(left: Float64Array, right: Float64Array): Float64Array {
  const all = new Float64Array(left.length + right.length);
  all.set(left);
  all.set(right, left.length);
  all.sort();
  let kept = 0;
  for (let at = 0; at < all.length; at++) {
    const leafIndex = all[at];
    if (leafIndex !== OWN_LEAF && (kept === 0 || leafIndex !== all[kept - 1]))
      all[kept++] = leafIndex as number;
  }
  return all.subarray(0, kept);
}

function numberOf(leafIndexes: Float64Array, leafIndex: number): number {
  return countBelow(leafIndexes.length, at => (leafIndexes[at] as number) < leafIndex);
}
