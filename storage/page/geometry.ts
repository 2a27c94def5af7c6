/**
 * Which pages a tree has, and which nodes each page holds.
 *
 *   height  0..2   leaf page (level 0): 8 leaves            rows of 8 and 4 nodes, at heights 0 and 1
 *           3..4   page at level 1, 4 children              rows of 8 and 4 nodes, at heights 2 and 3
 *           5..6   page at level 2, 4 children              rows of 8 and 4 nodes, at heights 4 and 5
 *           7..8   page at level 3, 4 children              rows of 8 and 4 nodes, at heights 6 and 7
 *           9..12  page at level 4, 16 children             rows of 32, 16, 8 and 4 nodes, at heights 8 to 11
 *          13..    levels 5 to 10, 16 children each; level 11, 8 children
 *          40      sub-root
 *
 * At each height a path needs the pre-image of the sibling: two nodes one height below. So the lowest row of a page is
 * not the roots of its children but the two nodes under each of them. Then a page holds everything that a path needs at
 * the page's heights, and a proof reads one page per level. The row of two nodes under a page's own root is in its
 * parent.
 *
 * Pages near the leaves have few children, because every leaf write makes new pages there. Higher pages have many,
 * because the writes of a block share them, and each level saved is a read saved. (Measured: docs/decisions.md.)
 *
 * A tree of n positions has pages up to level K, the lowest level whose root page covers all positions. A tree of up to
 * 8 positions is one leaf page. Leaves fill from the left, so the lowest row ends after its last node in use (its
 * occupied prefix). Each row above is half as long, rounded up:
 *
 *   row 0 (n nodes) | row 1 (ceil(n / 2)) | row 2 (ceil(n / 4)) | ...        back to back, 32 bytes a node
 */
import {StoreError} from "../errors.ts";

export const LEAVES_PER_PAGE = 8;
/** Child pages of an inner page, by level. A leaf page (level 0) has none. */
const CHILDREN: readonly number[] = [0, 4, 4, 4, 16, 16, 16, 16, 16, 16, 16, 8];

export const POSITIONS_PER_PAGE: readonly number[] = (() => {
  const positions = [LEAVES_PER_PAGE];
  for (const children of CHILDREN.slice(1)) positions.push((positions.at(-1) as number) * children);
  return positions;
})();

/** One less than docs/proofs.md allows: the number of positions in use is stored in 40 bits (treeRoot.ts). */
const MAX_POSITIONS = 2 ** 40 - 1;

/** Level of the root page of a tree with `positions` leaf positions in use, at least 2. @throws StoreError TREE_FULL */
export function rootLevel(positions: number): number {
  if (positions > MAX_POSITIONS)
    throw new StoreError("TREE_FULL", `${positions} leaf positions: a tree holds 2^40 - 1`);
  let level = 0;
  while (positions > (POSITIONS_PER_PAGE[level] as number)) level++;
  return level;
}

const ROOT_HEIGHTS: readonly number[] = POSITIONS_PER_PAGE.map(Math.log2);

/** Height of the root of a page at `level`: 3, 5, 7, 9, 13, ... */
export function pageRootHeight(level: number): number {
  return ROOT_HEIGHTS[level] as number;
}

export function lowestHeight(level: number): number {
  return level === 0 ? 0 : pageRootHeight(level - 1) - 1;
}

/** Level of the pages that hold the nodes at a height, below the two nodes under a root page's own root. */
export function levelOfHeight(height: number): number {
  let level = 0;
  while (height >= pageRootHeight(level) - 1) level++;
  return level;
}

/** Rows of nodes in a page: each row is half as wide as the one below, down to 4 nodes. */
export function rowCount(level: number): number {
  return pageRootHeight(level) - lowestHeight(level) - 1;
}

/** Child pages of a full page at `level`, at least 1. */
export function childrenPerPage(level: number): number {
  return CHILDREN[level] as number;
}

const MAX_ROW_NODES = 2 * Math.max(...CHILDREN);
const MAX_ROWS = Math.max(...CHILDREN.map((_, level) => rowCount(level)));

/** Leaves (level 0) or children (above) in use in page `pageIndex` of a level. */
export function occupied(level: number, pageIndex: number, positions: number): number {
  const perEntry = level === 0 ? 1 : (POSITIONS_PER_PAGE[level - 1] as number);
  const perPage = level === 0 ? LEAVES_PER_PAGE : childrenPerPage(level);
  return Math.min(perPage, Math.ceil(positions / perEntry) - pageIndex * perPage);
}

/** Divides instead of shifting, because leaf indexes have 40 bits. */
export function childOnPath(level: number, leafIndex: number): number {
  return Math.floor(leafIndex / (POSITIONS_PER_PAGE[level - 1] as number)) % childrenPerPage(level);
}

/** Nodes in the row that is `row` rows above a row of `nodes` nodes. */
export function rowLength(nodes: number, row: number): number {
  return (nodes + (1 << row) - 1) >> row;
}

/** starts[nodes * (MAX_ROWS + 1) + row]: nodes before a row; row MAX_ROWS = all of them. */
const starts: Uint8Array = (() => {
  const table = new Uint8Array((MAX_ROW_NODES + 1) * (MAX_ROWS + 1));
  for (let nodes = 0; nodes <= MAX_ROW_NODES; nodes++)
    for (let row = 0, start = 0; row <= MAX_ROWS; row++) {
      table[nodes * (MAX_ROWS + 1) + row] = start;
      start += rowLength(nodes, row);
    }
  return table;
})();

/** Nodes before row `row` in a page with `nodes` in its lowest row; all nodes, if it has `row` rows. */
export function rowStart(nodes: number, row: number): number {
  return starts[nodes * (MAX_ROWS + 1) + row] as number;
}
