/**
 * The path from one leaf to the sub-root: the hot part of a proof.
 *
 *   height 40          sub-root
 *   39 .. emptyFrom    siblings are empty sub-trees: the same for every leaf of the tree
 *   emptyFrom-1 .. 1   pre-images of the siblings, 64 bytes each, copied from pages on the way down
 *   0                  leaf openings: the sibling's, and the leaf's own
 *
 * The pre-image of a sibling is two nodes of the row below it. At every height both are in the page of the path
 * (geometry.ts). A page that is not read often lacks every other row (innerPage.ts): of such a row the two nodes are
 * hashed, for all pages of the path in one call.
 */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import {childOnPath, INNER_ROWS, lowestHeight, rootHeight, rootLevel, rowLength} from "../page/geometry.ts";
import {childCount, childPage, expectInner, hasAllRows, innerRowAt} from "../page/innerPage.ts";
import {
  entryKeyAt,
  entryNext,
  entryPrev,
  entryValue,
  expectLeafPage,
  findEntry,
  leafCount,
  leafPosition,
  leafRowAt,
  leafRows,
} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import type {EmptyTree} from "./emptyTree.ts";
import type {OpenedLeaf} from "./leafView.ts";
import type {TreeRoot} from "./treeRoot.ts";

export const PRE_IMAGE_BYTES = 2 * WORD_BYTES;
const PRE_IMAGES_BYTES = (TREE_HEIGHT - 1) * PRE_IMAGE_BYTES;
/** Pre-images that may have to be hashed: every other height from 2 to 38. */
const MOST_MADE = TREE_HEIGHT / 2;

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
  /** Pre-images to be hashed, each from four nodes, and where they go. */
  private made = 0;
  private readonly belowMade = new Uint8Array(MOST_MADE * 2 * PRE_IMAGE_BYTES);
  private readonly hashes = new Uint8Array(MOST_MADE * PRE_IMAGE_BYTES);
  private readonly madeAt = new Uint16Array(MOST_MADE);
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
    this.emptyFrom = rootHeight(tree.nextFreeNode);
    this.filled = 0;
    this.made = 0;
    let page = tree.rootPage;
    for (let level = rootLevel(tree.nextFreeNode); level > 0; level--) {
      const body = expectInner(pages.read(page), level, page);
      const children = childCount(body);
      const child = childOnPath(level, leafIndex);
      if (child >= children) throw new StoreError("RECORD_DAMAGED", `page ${page} has no child ${child}`);
      this.copySiblings(body, children, lowestHeight(level), 2 * child);
      page = childPage(body, child);
    }
    return this.openLeafPage(expectLeafPage(pages.read(page), tree.nextFreeNode, page), leafIndex, hKey);
  }

  private openLeafPage(body: Buffer, leafIndex: number, hKey: Uint8Array | undefined): boolean {
    const entry = findEntry(body, leafIndex);
    if (entry < 0 || (hKey !== undefined && compareWordAt(body, entryKeyAt(entry), hKey) !== 0)) return false;
    const count = leafCount(body);
    const position = leafPosition(body, leafIndex);
    for (let row = leafRows(body) - 1; row >= 0; row--) {
      const left = 2 * ((position >> (row + 1)) ^ 1);
      this.copyPair(body, leafRowAt(count, row) + left * WORD_BYTES, rowLength(count, row) - left, row);
    }
    const sibling = findEntry(body, position ^ 1);
    this.hasSibling = sibling >= 0;
    if (this.hasSibling) this.copyOpening(this.siblingOpening, body, sibling);
    this.copyOpening(this.opening, body, entry);
    this.value = entryValue(body, leafIndex);
    this.hashMade();
    return true;
  }

  /**
   * Copies the pre-images of the path's siblings in one inner page, from its highest row down.
   *
   * @param lowest - height of row 0. @param position - the left one of the path's two nodes in row 0
   */
  private copySiblings(body: Buffer, children: number, lowest: number, position: number): void {
    const hasAll = hasAllRows(body);
    for (let row = INNER_ROWS - 1; row >= 0; row--) {
      const isThere = hasAll || row % 2 === 0;
      const from = isThere ? row : row - 1;
      const left = (isThere ? 2 : 4) * ((position >> (row + 1)) ^ 1);
      const offset = innerRowAt(children, from) + left * WORD_BYTES;
      const available = rowLength(2 * children, from) - left;
      if (isThere) this.copyPair(body, offset, available, lowest + row);
      else this.queuePair(body, offset, available, lowest + from);
    }
  }

  /** @param available - how many of the four nodes from `offset` on are stored, at `height` */
  private queuePair(body: Buffer, offset: number, available: number, height: number): void {
    if (available <= 0) {
      this.copyPair(body, offset, 0, height + 1);
      return;
    }
    const to = this.made * 2 * PRE_IMAGE_BYTES;
    const stored = Math.min(4, available) * WORD_BYTES;
    body.copy(this.belowMade, to, offset, offset + stored);
    for (let at = stored; at < 2 * PRE_IMAGE_BYTES; at += WORD_BYTES)
      this.belowMade.set(this.zeros[height] as Uint8Array, to + at);
    this.madeAt[this.made++] = this.filled;
    this.filled += PRE_IMAGE_BYTES;
  }

  private hashMade(): void {
    const {made, hashes, madeAt, preImages} = this;
    if (made === 0) return;
    this.suite.hashPairsInto(this.belowMade, 2 * made, hashes);
    for (let i = 0; i < made; i++)
      for (let from = i * PRE_IMAGE_BYTES, to = madeAt[i] as number; from < (i + 1) * PRE_IMAGE_BYTES; )
        preImages[to++] = hashes[from++] as number;
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
