/**
 * Which pages a tree has, and which nodes each page holds.
 *
 *   height  0..1   leaf page (level 0): 4 leaves            a row of 4 nodes, at height 0
 *           2..5   page at level 1, 16 children             rows of 32, 16, 8 and 4 nodes, at heights 1 to 4
 *           6..9   page at level 2, 16 children             the same at heights 5 to 8
 *          10..    levels 3 to 9, 16 children each
 *          40      sub-root
 *
 * At each height a path needs the pre-image of the sibling: two nodes one height below. So the lowest row of a page is
 * not the roots of its children but the two nodes under each of them. Then a page holds everything that a path needs at
 * the page's heights, and a proof reads one page per level. The row of two nodes under a page's own root is in its
 * parent.
 *
 * A leaf write stores a leaf page and a difference of one child at each level above (pageDifference.ts). So few leaves
 * share a page, and many children. (Measured: docs/decisions.md.)
 *
 * A tree of n positions has pages up to level K, the lowest level whose root page covers all positions. A tree of up to
 * 8 positions is one leaf page, which is twice as wide: most storage trees are so small. Leaves fill from the left, so
 * the lowest row ends after its last node in use (its occupied prefix). Each row above is half as long, rounded up.
 */
import {StoreError} from "../errors.ts";

/** Leaves of the only page of a small tree, and of each leaf page of a larger one. */
export const SMALL_TREE = 8;
export const LEAVES_PER_PAGE = 4;
/** Child pages of a full inner page. */
export const CHILDREN = 16;
/** Rows of nodes in an inner page: each row is half as wide as the one below, down to 4 nodes. */
export const INNER_ROWS = 4;

/** Of a tree that is not small. */
export const POSITIONS_PER_PAGE: readonly number[] = Array.from(
  {length: 10},
  (_, level) => LEAVES_PER_PAGE * CHILDREN ** level,
);

/** Fewer than docs/proofs.md allows: a full page at the highest level covers so many. */
const MAX_POSITIONS = 2 ** 38;

/** Level of the root page of a tree with `positions` leaf positions in use, at least 2. @throws StoreError TREE_FULL */
export function rootLevel(positions: number): number {
  if (positions > MAX_POSITIONS)
    throw new StoreError("TREE_FULL", `${positions} leaf positions: a tree holds 2^38`);
  if (positions <= SMALL_TREE) return 0;
  let level = 1;
  while (positions > (POSITIONS_PER_PAGE[level] as number)) level++;
  return level;
}

/** Height of the root of a tree's root page. */
export function rootHeight(positions: number): number {
  return positions <= SMALL_TREE ? 3 : pageRootHeight(rootLevel(positions));
}

export function leavesPerPage(positions: number): number {
  return positions <= SMALL_TREE ? SMALL_TREE : LEAVES_PER_PAGE;
}

/** Height of the root of a page at `level` of a tree that is not small: 2, 6, 10, ... */
export function pageRootHeight(level: number): number {
  return 2 + INNER_ROWS * level;
}

export function lowestHeight(level: number): number {
  return level === 0 ? 0 : pageRootHeight(level - 1) - 1;
}

/** Level of the pages that hold the nodes at a height, below the two nodes under a root page's own root. */
export function levelOfHeight(height: number): number {
  return Math.ceil(height / INNER_ROWS);
}

/** Leaves (level 0) or children (above) in use in page `pageIndex` of a level. */
export function occupied(level: number, pageIndex: number, positions: number): number {
  const perEntry = level === 0 ? 1 : (POSITIONS_PER_PAGE[level - 1] as number);
  const perPage = level === 0 ? leavesPerPage(positions) : CHILDREN;
  return Math.min(perPage, Math.ceil(positions / perEntry) - pageIndex * perPage);
}

/** Divides instead of shifting, because leaf indexes have 38 bits. */
export function childOnPath(level: number, leafIndex: number): number {
  return Math.floor(leafIndex / (POSITIONS_PER_PAGE[level - 1] as number)) % CHILDREN;
}

/** Nodes in the row that is `row` rows above a row of `nodes` nodes. */
export function rowLength(nodes: number, row: number): number {
  return (nodes + (1 << row) - 1) >> row;
}
