/**
 * The nodes of one tree, read through open pages, one per level. A page stays open until a node outside it is
 * requested, so requests in ascending order read each page once.
 *
 *   level 2           page
 *   level 1      page       page
 *   level 0    page page  page  page
 *
 *   height 40                 sub-root: in the TreeRoot
 *   39 .. top's height - 1    hashed: no page holds these nodes
 *   .. 0                      copied from rows of pages (geometry.ts)
 */
import {StoreError} from "../errors.ts";
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import {
  childOnPath,
  INNER_ROWS,
  levelOfHeight,
  lowestHeight,
  POSITIONS_PER_PAGE,
  rootHeight,
  rootLevel,
  rowLength,
} from "../page/geometry.ts";
import {childCount, childPage, expectInner, innerRowAt, withAllRows} from "../page/innerPage.ts";
import {expectLeafPage, leafCount, leafRowAt, leafRows} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import type {EmptyTree} from "./emptyTree.ts";
import type {TreeRoot} from "./treeRoot.ts";

export class TreePages {
  top = 0;
  private readonly open: Buffer[] = [];
  private readonly openAt: number[] = [];
  /** The leftmost node of each height that no page holds, as far as it was asked for. */
  private readonly hashed = new Uint8Array((TREE_HEIGHT + 1) * WORD_BYTES);
  private readonly isHashed = new Uint8Array(TREE_HEIGHT + 1);
  private pages: PageReader | undefined;
  private root: TreeRoot | undefined;

  constructor(
    private readonly suite: HashSuite,
    private readonly empty: EmptyTree,
  ) {}

  /** A new tree has no pages, but nodes. @throws StoreError RECORD_MISSING, RECORD_DAMAGED, as all that reads pages */
  begin(pages: PageReader, root: TreeRoot): void {
    this.pages = pages;
    this.root = root;
    this.openAt.fill(-1);
    this.isHashed.fill(0);
    if (root.rootPage === 0) return;
    this.top = rootLevel(root.nextFreeNode);
    this.openAt[this.top] = 0;
    this.open[this.top] = this.readPage(root.rootPage, this.top);
  }

  /** A new tree has no pages. */
  get isNew(): boolean {
    return (this.root as TreeRoot).rootPage === 0;
  }

  /** Hot: once per leaf of a multiproof. @param leafIndex - below nextFreeNode. @param kept - the page at level 0 */
  pageOver(leafIndex: number, level: number, kept?: Buffer): Buffer {
    const {open, openAt, top} = this;
    let at = level;
    while (at < top && openAt[at] !== pageIndexOf(leafIndex, at)) at++;
    for (; at > level; at--) {
      const body = open[at] as Buffer;
      const child = childOnPath(at, leafIndex);
      if (child >= childCount(body))
        throw new StoreError("RECORD_DAMAGED", `a page of level ${at} has no child ${child}`);
      const isKept = at === 1 && kept !== undefined;
      open[at - 1] = isKept ? kept : this.readPage(childPage(body, child), at - 1);
      openAt[at - 1] = pageIndexOf(leafIndex, at - 1);
    }
    return open[level] as Buffer;
  }

  /** Writes 32 bytes at `at` of `out`: the node over the positions from `index * 2^height`, 2^height of them. */
  nodeInto(height: number, index: number, out: Uint8Array, at: number): void {
    const {empty} = this;
    const root = this.root as TreeRoot;
    const {isNew} = this;
    if (index * 2 ** height >= root.nextFreeNode) out.set(empty.zeros[height] as Uint8Array, at);
    else if (height === TREE_HEIGHT) out.set(root.subRoot, at);
    else if (height > (isNew ? 0 : rootHeight(root.nextFreeNode) - 2))
      this.hashNodeInto(height, index, out, at);
    else if (isNew) out.set(empty.leaves[index] as Uint8Array, at);
    else this.copyNode(height, index, out, at);
  }

  /** The leftmost nodes are cached, since each follows from the one below: a walk from the top needs all of them. */
  private hashNodeInto(height: number, index: number, out: Uint8Array, at: number): void {
    const kept = this.hashed.subarray(height * WORD_BYTES, (height + 1) * WORD_BYTES);
    if (index !== 0 || this.isHashed[height] === 0) {
      const pair = new Uint8Array(2 * WORD_BYTES);
      this.nodeInto(height - 1, 2 * index, pair, 0);
      this.nodeInto(height - 1, 2 * index + 1, pair, WORD_BYTES);
      this.suite.hashPairsInto(pair, 1, out.subarray(at, at + WORD_BYTES));
      if (index !== 0) return;
      kept.set(out.subarray(at, at + WORD_BYTES));
      this.isHashed[height] = 1;
    }
    out.set(kept, at);
  }

  private copyNode(height: number, index: number, out: Uint8Array, at: number): void {
    const level = Math.min(this.top, levelOfHeight(height));
    const page = this.pageOver(index * 2 ** height, level);
    const count = level === 0 ? leafCount(page) : 2 * childCount(page);
    const row = height - lowestHeight(level);
    const position = index % 2 ** ((level === 0 ? leafRows(page) : INNER_ROWS) + 1 - row);
    if (position >= rowLength(count, row))
      throw new StoreError(
        "RECORD_DAMAGED",
        `a page of level ${level} has no node ${position} in row ${row}`,
      );
    const rowAt = level === 0 ? leafRowAt(count, row) : innerRowAt(count / 2, row);
    const from = rowAt + position * WORD_BYTES;
    for (let i = 0; i < WORD_BYTES; i++) out[at + i] = page[from + i] as number;
  }

  private readPage(page: number, level: number): Buffer {
    const body = (this.pages as PageReader).read(page);
    if (level === 0) return expectLeafPage(body, (this.root as TreeRoot).nextFreeNode, page);
    return withAllRows(expectInner(body, level, page), this.suite, this.empty.zeros);
  }
}

function pageIndexOf(leafIndex: number, level: number): number {
  return Math.floor(leafIndex / (POSITIONS_PER_PAGE[level] as number));
}
