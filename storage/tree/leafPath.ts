/**
 * The path of one leaf to the sub-root: the hot part of a proof.
 *
 *   height 40          sub-root
 *   39 .. emptyFrom    siblings are empty sub-trees: the same for every leaf of the tree
 *   emptyFrom-1 .. 1   pre-images of the siblings, 64 bytes each, copied from pages on the way down
 *   0                  leaf openings: the sibling's, and the leaf's own
 *
 * The pre-image of a sibling inside a page is two nodes of the row below it. At a page's lowest height they are
 * the top row of the sibling's own page: one more read per level, the price of storing every node once.
 */

import {StoreError} from "../errors.ts";
import type {EmptyTree} from "../hash/emptyTree.ts";
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import {
  CHILDREN_PER_PAGE,
  INNER_PAGE_ROWS,
  LEAF_PAGE_ROWS,
  LEAVES_PER_PAGE,
  POSITIONS_PER_PAGE,
  pageRootHeight,
  rootLevel,
  rowLength,
} from "../page/geometry.ts";
import {compareAt} from "../page/indexPage.ts";
import {childCount, childPage, INNER_PAGE, innerPageNodeAt} from "../page/innerPage.ts";
import {LEAF_PAGE, type Leaf, leafAt, leafCount, leafPageNodeAt} from "../page/leafPage.ts";
import {expectKind, type PageReader} from "../page/pages.ts";
import type {TreeRoot} from "./treeRoot.ts";

/** Bytes of a branch's pre-image: left, right. */
export const PRE_IMAGE_BYTES = 2 * WORD_BYTES;

/** One path at a time; its buffers are overwritten by the next `open`. */
export class LeafPath {
  /** Siblings at this height and above are empty sub-trees. */
  emptyFrom = TREE_HEIGHT;
  /** Pre-images of the siblings at heights emptyFrom-1 down to 1, back to back. */
  readonly preImages: Uint8Array = new Uint8Array((TREE_HEIGHT - 1) * PRE_IMAGE_BYTES);
  readonly rootNode: Uint8Array;
  readonly opening: Uint8Array;
  /** Only if `hasSibling`. */
  readonly siblingOpening: Uint8Array;
  /** false: the sibling leaf is empty. */
  hasSibling = false;
  /** The leaf's stored value: a view of its page. */
  value: Uint8Array = new Uint8Array(0);

  private filled = 0;
  private readonly suite: HashSuite;
  private readonly zeros: readonly Uint8Array[];

  constructor(suite: HashSuite, empty: EmptyTree) {
    this.suite = suite;
    this.zeros = empty.zeros;
    this.rootNode = new Uint8Array(suite.rootNodeBytes);
    this.opening = new Uint8Array(suite.leafOpeningBytes);
    this.siblingOpening = new Uint8Array(suite.leafOpeningBytes);
  }

  /**
   * Hot: once per proved key. Reads are synchronous: a worker has nothing else to do meanwhile.
   *
   * @param tree - of a stored tree: rootPage is not 0
   * @param leafIndex - below tree.nextFreeNode
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  open(pages: PageReader, tree: TreeRoot, leafIndex: number): void {
    if (leafIndex >= tree.nextFreeNode)
      throw new StoreError("RECORD_DAMAGED", `leaf ${leafIndex} of a tree of ${tree.nextFreeNode}`);
    if (!this.walk(pages, tree, leafIndex, undefined))
      throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
  }

  /**
   * As `open`, where the leaf may be another key's, deleted, or not there yet.
   *
   * @returns whether it has this key; if not, what is in the buffers means nothing
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  openIfKey(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array): boolean {
    return leafIndex < tree.nextFreeNode && this.walk(pages, tree, leafIndex, hKey);
  }

  private walk(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array | undefined): boolean {
    const top = rootLevel(tree.nextFreeNode);
    this.emptyFrom = pageRootHeight(top);
    this.filled = 0;
    this.suite.encodeRootNodeInto(this.rootNode, 0, tree.nextFreeNode, tree.subRoot);
    let page = tree.rootPage;
    for (let level = top; level > 0; level--) {
      // Not a shift: bitwise operators stop at 32 bits, leaf indexes use 40.
      const child = Math.floor(leafIndex / (POSITIONS_PER_PAGE[level - 1] as number)) % CHILDREN_PER_PAGE;
      page = this.descend(pages, expectKind(pages.read(page), INNER_PAGE, page), level, child, page);
    }
    return this.openLeafPage(
      expectKind(pages.read(page), LEAF_PAGE, page),
      leafIndex % LEAVES_PER_PAGE,
      hKey,
    );
  }

  /** Copies an inner page's four siblings of the path to `child`. @returns the child's page number */
  private descend(pages: PageReader, body: Buffer, level: number, child: number, page: number): number {
    const count = childCount(body);
    if (child >= count) throw new StoreError("RECORD_DAMAGED", `page ${page} has no child ${child}`);
    const lowest = pageRootHeight(level - 1);
    for (let row = INNER_PAGE_ROWS - 2; row >= 0; row--) {
      const left = 2 * ((child >> (row + 1)) ^ 1);
      this.copyPair(body, innerPageNodeAt(body, row, left), rowLength(count, row) - left, lowest + row);
    }
    const sibling = child ^ 1;
    if (sibling < count) this.copyTopPair(pages, level - 1, childPage(body, sibling));
    else this.copyPair(body, 0, 0, lowest - 1);
    return childPage(body, child);
  }

  /** The pre-image of a page's root: its highest row. */
  private copyTopPair(pages: PageReader, level: number, page: number): void {
    const body = pages.read(page);
    const height = pageRootHeight(level) - 1;
    if (level === 0) {
      expectKind(body, LEAF_PAGE, page);
      const row = LEAF_PAGE_ROWS - 1;
      this.copyPair(body, leafPageNodeAt(body, row, 0), rowLength(leafCount(body), row), height);
    } else {
      expectKind(body, INNER_PAGE, page);
      const row = INNER_PAGE_ROWS - 1;
      this.copyPair(body, innerPageNodeAt(body, row, 0), rowLength(childCount(body), row), height);
    }
  }

  private openLeafPage(body: Buffer, position: number, hKey: Uint8Array | undefined): boolean {
    const count = leafCount(body);
    const leaf = position < count ? leafAt(body, position) : undefined;
    if (leaf === undefined || (hKey !== undefined && compareAt(leaf.hKey, 0, hKey) !== 0)) return false;
    for (let row = LEAF_PAGE_ROWS - 2; row >= 0; row--) {
      const left = 2 * ((position >> (row + 1)) ^ 1);
      this.copyPair(body, leafPageNodeAt(body, row, left), rowLength(count, row) - left, row);
    }
    const sibling = (position ^ 1) < count ? leafAt(body, position ^ 1) : undefined;
    this.hasSibling = sibling !== undefined;
    if (sibling !== undefined) this.encodeOpening(this.siblingOpening, sibling);
    this.encodeOpening(this.opening, leaf);
    this.value = leaf.value;
    return true;
  }

  private encodeOpening(out: Uint8Array, leaf: Leaf): void {
    this.suite.encodeLeafOpeningInto(out, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
  }

  /**
   * @param offset - of the left node; the right one follows it
   * @param available - how many of the two are stored; the others are empty sub-trees
   * @param height - of the two nodes
   */
  private copyPair(body: Buffer, offset: number, available: number, height: number): void {
    const out = this.filled;
    this.filled = out + PRE_IMAGE_BYTES;
    if (available >= 2) {
      body.copy(this.preImages, out, offset, offset + PRE_IMAGE_BYTES);
      return;
    }
    const zero = this.zeros[height] as Uint8Array;
    if (available === 1) body.copy(this.preImages, out, offset, offset + WORD_BYTES);
    else this.preImages.set(zero, out);
    this.preImages.set(zero, out + WORD_BYTES);
  }
}
