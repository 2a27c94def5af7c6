/**
 * Which pages a tree has, and which nodes a page.
 *
 *   height 40  sub-root
 *     ..       empty to the right of the leftmost node: constants, not stored
 *     7+4k     root of an inner page at level k+1
 *     3..6     rows of a level-1 page, 16 children    (its root, height 7, stands in its parent's lowest row)
 *     0..2     rows of a leaf page (level 0), 8 leaves
 *
 * A tree of n positions has pages up to the lowest level K whose root page covers them all; a tree of up to 8
 * is one leaf page. Leaves fill from the left, so every row is cut to its occupied prefix.
 */
import {StoreError} from "../errors.ts";

/** Rows of node hashes in a leaf page: 8, 4, 2. */
export const LEAF_PAGE_ROWS = 3;
export const LEAVES_PER_PAGE = 8;
/** Rows of node hashes in an inner page: 16, 8, 4, 2. */
export const INNER_PAGE_ROWS = 4;
export const CHILDREN_PER_PAGE = 16;
/** Level 9 covers 2^39 positions; a level 10 would reach past the sub-root. */
const MAX_LEVEL = 9;

/** Leaf positions under a page of each level. */
export const POSITIONS_PER_PAGE: readonly number[] = Array.from(
  {length: MAX_LEVEL + 1},
  (_, level) => LEAVES_PER_PAGE * CHILDREN_PER_PAGE ** level,
);

/** Level of the root page of a tree with `positions` leaf positions in use, at least 2. */
export function rootLevel(positions: number): number {
  for (let level = 0; level <= MAX_LEVEL; level++)
    if (positions <= (POSITIONS_PER_PAGE[level] as number)) return level;
  throw new StoreError("TREE_FULL", `${positions} leaf positions: a tree holds 2^39`);
}

/** Height of the root of a page at `level`: 3, 7, 11, ... */
export function pageRootHeight(level: number): number {
  return LEAF_PAGE_ROWS + INNER_PAGE_ROWS * level;
}

/** Leaves (level 0) or children (above) in use in page `pageIndex` of a level. */
export function occupied(level: number, pageIndex: number, positions: number): number {
  const perEntry = level === 0 ? 1 : (POSITIONS_PER_PAGE[level - 1] as number);
  const perPage = level === 0 ? LEAVES_PER_PAGE : CHILDREN_PER_PAGE;
  return Math.min(perPage, Math.ceil(positions / perEntry) - pageIndex * perPage);
}

/** Entries of row `row` above `entries` entries: each row halves, rounding up. */
export function rowLength(entries: number, row: number): number {
  return (entries + (1 << row) - 1) >> row;
}

/** rowStart[entries * 5 + row]: nodes before a row, for 0..16 entries; row 4 = all four rows. */
export const ROW_STARTS: Uint8Array = (() => {
  const starts = new Uint8Array((CHILDREN_PER_PAGE + 1) * 5);
  for (let entries = 0; entries <= CHILDREN_PER_PAGE; entries++)
    for (let row = 0, start = 0; row < 5; row++) {
      starts[entries * 5 + row] = start;
      start += rowLength(entries, row);
    }
  return starts;
})();
