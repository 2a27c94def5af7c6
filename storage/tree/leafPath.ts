/**
 * The path from one leaf to the sub-root: the hot part of a proof.
 *
 *   height 40          sub-root
 *   39 .. emptyFrom    siblings are empty sub-trees: the same for every leaf of the tree
 *   emptyFrom-1 .. 1   pre-images of the siblings, 64 bytes each, copied from pages on the way down
 *   0                  leaf openings: the sibling's, and the leaf's own
 *
 * The pre-image of a sibling is two nodes of the row below it. At every height both are in the page of the path
 * (geometry.ts).
 */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import {
  childOnPath,
  LEAVES_PER_PAGE,
  lowestHeight,
  pageRootHeight,
  rootLevel,
  rowCount,
  rowLength,
  rowStart,
} from "../page/geometry.ts";
import {childCount, childPage, INNER_PAGE, innerRowsAt} from "../page/innerPage.ts";
import {
  entryKeyAt,
  entryNext,
  entryPrev,
  entryValue,
  findEntry,
  LEAF_PAGE,
  leafCount,
  leafRowsAt,
} from "../page/leafPage.ts";
import {expectKind, type PageReader} from "../page/pageReader.ts";
import type {EmptyTree} from "./emptyTree.ts";
import type {OpenedLeaf} from "./leafView.ts";
import type {TreeRoot} from "./treeRoot.ts";

export const PRE_IMAGE_BYTES = 2 * WORD_BYTES;
const PRE_IMAGES_BYTES = (TREE_HEIGHT - 1) * PRE_IMAGE_BYTES;

export function pathBytes(suite: HashSuite): number {
  return PRE_IMAGES_BYTES + 2 * suite.leafOpeningBytes;
}

/** Holds one path at a time. The next one overwrites its buffers. */
export class LeafPath implements OpenedLeaf {
  /** Siblings at this height and above are empty sub-trees. */
  emptyFrom = TREE_HEIGHT;
  /** Pre-images of the siblings at heights emptyFrom-1 down to 1, back to back. */
  readonly preImages: Uint8Array;
  readonly opening: Uint8Array;
  readonly siblingOpening: Uint8Array;
  /** false: the sibling leaf is empty. */
  hasSibling = false;
  value: Uint8Array = new Uint8Array(0);

  private filled = 0;
  private readonly zeros: readonly Uint8Array[];

  /** @param memory - pathBytes(suite) bytes for the nodes, for callers that want them in their own memory */
  constructor(
    private readonly suite: HashSuite,
    empty: EmptyTree,
    memory: Uint8Array = new Uint8Array(pathBytes(suite)),
  ) {
    this.zeros = empty.zeros;
    const openingAt = PRE_IMAGES_BYTES + suite.leafOpeningBytes;
    this.preImages = memory.subarray(0, PRE_IMAGES_BYTES);
    this.siblingOpening = memory.subarray(PRE_IMAGES_BYTES, openingAt);
    this.opening = memory.subarray(openingAt, openingAt + suite.leafOpeningBytes);
  }

  /** Hot: runs once per proved key. Reads are synchronous: a worker has nothing else to do meanwhile. */
  tryOpen(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array | undefined): boolean {
    if (leafIndex >= tree.nextFreeNode) return false;
    const top = rootLevel(tree.nextFreeNode);
    this.emptyFrom = pageRootHeight(top);
    this.filled = 0;
    let page = tree.rootPage;
    for (let level = top; level > 0; level--) {
      const body = expectKind(pages.read(page), INNER_PAGE, page);
      const children = childCount(body);
      const child = childOnPath(level, leafIndex);
      if (child >= children) throw new StoreError("RECORD_DAMAGED", `page ${page} has no child ${child}`);
      this.copySiblings(body, innerRowsAt(children), 2 * children, level, 2 * child);
      page = childPage(body, child);
    }
    return this.openLeafPage(
      expectKind(pages.read(page), LEAF_PAGE, page),
      leafIndex % LEAVES_PER_PAGE,
      hKey,
    );
  }

  private openLeafPage(body: Buffer, position: number, hKey: Uint8Array | undefined): boolean {
    const entry = findEntry(body, position);
    if (entry < 0 || (hKey !== undefined && compareWordAt(body, entryKeyAt(entry), hKey) !== 0)) return false;
    const count = leafCount(body);
    this.copySiblings(body, leafRowsAt(count), count, 0, position);
    const sibling = findEntry(body, position ^ 1);
    this.hasSibling = sibling >= 0;
    if (this.hasSibling) this.copyOpening(this.siblingOpening, body, sibling);
    this.copyOpening(this.opening, body, entry);
    this.value = entryValue(body, position);
    return true;
  }

  /**
   * Copies the pre-images of the path's siblings in one page, from its highest row down.
   *
   * @param rowsAt, count - offset of the page's row 0, and nodes in use there
   * @param position - the path's node in row 0, or the left one of the two nodes under it
   */
  private copySiblings(body: Buffer, rowsAt: number, count: number, level: number, position: number): void {
    const lowest = lowestHeight(level);
    for (let row = rowCount(level) - 1; row >= 0; row--) {
      const left = 2 * ((position >> (row + 1)) ^ 1);
      const offset = rowsAt + (rowStart(count, row) + left) * WORD_BYTES;
      this.copyPair(body, offset, rowLength(count, row) - left, lowest + row);
    }
  }

  private copyOpening(out: Uint8Array, body: Buffer, entry: number): void {
    this.suite.encodeLeafLinksInto(out, 0, entryPrev(body, entry), entryNext(body, entry));
    const keyAt = entryKeyAt(entry);
    body.copy(out, out.length - 2 * WORD_BYTES, keyAt, keyAt + 2 * WORD_BYTES);
  }

  /** @param available - how many of the two nodes from `offset` on are stored; the others are empty sub-trees */
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
