/**
 * Which leaves of a tree prove a list of keys, and which leaf serves which key (docs/proofs.md, 9.2):
 *
 *   keys          k0      k1      k2                 in the order in which they were asked for, duplicates too
 *   lefts         2       0       2                  numbers of leaves: their places in leafIndexes
 *   rights        -       1       -                  PRESENT: the leaf named by `lefts` has the key
 *   leafIndexes   5       9       300                ascending, each leaf once
 *   ownKeys       -1      -1      0                  the first key that is present at the leaf
 *
 * First each key is located on its own (locateKey), on any thread and in any order. Then the table is made of all places (fillTable).
 */
import type {LeafPageView} from "./leafPageView.ts";
import type {Tree} from "./tree.ts";

/** A leaf number in the bytes of a multiproof has 15 bits, and a key needs up to two leaves. */
export const MAX_PROVED_KEYS = 2 ** 14;
/** In `rights`: the key is present. */
export const PRESENT = 0xffff;
/** In `ownKeys`: no key is present at the leaf. */
export const NO_KEY = -1;
/** In place of a right neighbour's leaf index: the key is present, and the left one is its own leaf. */
const OWN_LEAF = -1;

export interface KeyTable {
  readonly lefts: Uint16Array;
  readonly rights: Uint16Array;
  readonly leafIndexes: Float64Array;
  readonly ownKeys: Int32Array;
  /** By leaf: its page, if the search has read it and kept it. */
  readonly pages: readonly (Buffer | undefined)[];
}

/** Where keys are. By key: the leaf index of its leaf or of its left neighbour, and that of its right neighbour or OWN_LEAF. */
export interface KeyPlaces {
  readonly lefts: Float64Array;
  readonly rights: Float64Array;
}

/**
 * Finds the place of one key. Hot: runs once per key of a multiproof.
 *
 * @param view - afterwards: holds the page of the key's leaf, if it is present and the tree is not new; else nothing
 * @param hKey - 32 bytes
 * @param key - its number in `places`
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function locateKey(
  tree: Tree,
  view: LeafPageView,
  hKey: Uint8Array,
  {lefts, rights}: KeyPlaces,
  key: number,
): void {
  view.clear();
  const position = tree.locate(view, hKey);
  lefts[key] = position.present ? position.leafIndex : position.leftLeafIndex;
  rights[key] = position.present ? OWN_LEAF : position.rightLeafIndex;
}

/**
 * Makes the table of keys of one tree.
 *
 * @param places - of all keys: 1 to MAX_PROVED_KEYS
 * @param table - output: `lefts` and `rights` with room for a number per key, the others with room for two
 * @returns how many leaves the table has. What follows them in `leafIndexes` and `ownKeys` is unspecified
 */
export function fillTable(
  {lefts, rights}: KeyPlaces,
  table: Pick<KeyTable, "lefts" | "rights" | "leafIndexes" | "ownKeys">,
): number {
  const count = lefts.length;
  if (count > MAX_PROVED_KEYS) throw new RangeError(`${count} keys: at most ${MAX_PROVED_KEYS}`);
  const leafIndexes = sortOnce(lefts, rights, table.leafIndexes);
  table.ownKeys.fill(NO_KEY, 0, leafIndexes.length);
  for (let key = count - 1; key >= 0; key--) {
    const leaf = countBelow(leafIndexes, leafIndexes.length, lefts[key] as number);
    const isPresent = rights[key] === OWN_LEAF;
    table.lefts[key] = leaf;
    table.rights[key] = isPresent
      ? PRESENT
      : countBelow(leafIndexes, leafIndexes.length, rights[key] as number);
    if (isPresent) table.ownKeys[leaf] = key;
  }
  return leafIndexes.length;
}

/** All leaf indexes of both lists, ascending, each once. @param out - output. @returns the part of `out` that they take */
function sortOnce(lefts: Float64Array, rights: Float64Array, out: Float64Array): Float64Array {
  const all = new Float64Array(lefts.length + rights.length);
  all.set(lefts);
  all.set(rights, lefts.length);
  all.sort();
  let kept = 0;
  for (let at = 0; at < all.length; at++) {
    const leafIndex = all[at] as number;
    if (leafIndex !== OWN_LEAF && (kept === 0 || leafIndex !== out[kept - 1])) out[kept++] = leafIndex;
  }
  return out.subarray(0, kept);
}

/** How many of the first `count` numbers, which ascend, are below `bound`. */
export function countBelow(numbers: Float64Array, count: number, bound: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
