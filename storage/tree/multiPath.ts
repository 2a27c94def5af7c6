/**
 * The paths of many leaves of one tree, walked in ascending order of leaf index (docs/proofs.md, 9.4). For each leaf it
 * gives the links, the content, and the hashes of those siblings that do not follow from other leaves of the list.
 *
 *   height 40            sub-root
 *   39 .. top's height   empty siblings: left out
 *   top's height - 1     the two nodes under the root of the top page: hashed (treePages.ts)
 *   .. 0                 where they lie in rows of pages (geometry.ts)
 */
import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../hash/suite.ts";
import {INNER_ROWS, rowLength} from "../page/geometry.ts";
import {childCount, innerRowAt} from "../page/innerPage.ts";
import {
  entryKeyAt,
  entryNext,
  entryPrev,
  entryValue,
  findEntry,
  leafCount,
  leafRowAt,
  leafRows,
} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import type {EmptyTree} from "./emptyTree.ts";
import {HEAD_INDEX, TAIL_INDEX} from "./emptyTree.ts";
import type {KeyTable} from "./keyTable.ts";
import type {Tree} from "./tree.ts";
import {TreePages} from "./treePages.ts";

const PAIR_BYTES = 2 * WORD_BYTES;
const NO_PAGES: KeyTable["pages"] = [];
const BITMAP_BYTES = TREE_HEIGHT / 8;

/** Holds one leaf at a time. The next `read` overwrites everything. */
export class MultiPath {
  prev = 0;
  next = 0;
  /** Bit h of the big-endian number: there is a sibling of height h. */
  readonly bitmap = new Uint8Array(BITMAP_BYTES);
  siblingCount = 0;
  /** Where each sibling hash is, in ascending height: not copied out of the pages. */
  readonly siblingsIn: Uint8Array[] = [];
  readonly siblingsAt: number[] = [];

  private leafIndex = 0;
  private leafEntry = 0;
  private readonly zeros: readonly Uint8Array[];
  private tree: Tree | undefined;
  private leafIndexes: Float64Array = new Float64Array(0);
  private leafPages: KeyTable["pages"] = NO_PAGES;
  private readonly open: TreePages;
  private page: Buffer | undefined;
  /** Heights at which the paths of earlier leaves wait for a later one, falling. */
  private readonly waiting: number[] = [];
  private readonly half = new Uint8Array(WORD_BYTES);

  constructor(suite: HashSuite, empty: EmptyTree) {
    this.open = new TreePages(suite, empty);
    this.zeros = empty.zeros;
  }

  /** The leaf's hKey and hVal: a view of its page, 64 bytes. The tree must not be new. */
  get hashes(): Uint8Array {
    const keyAt = entryKeyAt(this.leafEntry);
    return (this.page as Buffer).subarray(keyAt, keyAt + PAIR_BYTES);
  }

  /** The leaf's stored value: a view of its page. The tree must not be new. */
  get value(): Uint8Array {
    return entryValue(this.page as Buffer, this.leafIndex);
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  begin(pages: PageReader, tree: Tree, table: KeyTable): void {
    this.tree = tree;
    this.leafIndexes = table.leafIndexes;
    this.leafPages = table.pages;
    this.waiting.length = 0;
    this.open.begin(pages, tree.root);
  }

  /** Lets go of the table's leaf pages. A table of 2 000 keys has 2.6 MB of them. */
  end(): void {
    this.leafPages = NO_PAGES;
  }

  /** Hot: runs once per leaf. @param leaf - its number in the table, ascending. @throws as `begin` */
  read(leaf: number): void {
    const tree = this.tree as Tree;
    const leafIndex = this.leafIndexes[leaf] as number;
    const end = this.endOf(leaf);
    this.bitmap.fill(0);
    this.siblingCount = 0;
    if (tree.isNew) {
      this.prev = HEAD_INDEX;
      this.next = TAIL_INDEX;
    } else {
      this.page = this.open.pageOver(leafIndex, 0, this.leafPages[leaf]);
      this.readLeaf(leafIndex);
      this.collect(leafIndex, end);
    }
    this.meet(end);
  }

  /** The height below which the leaf's path is its own: there it meets the next leaf's, or ends in the sub-root. */
  private endOf(leaf: number): number {
    const {leafIndexes} = this;
    if (leaf + 1 === leafIndexes.length) return TREE_HEIGHT;
    return meetingHeight(leafIndexes[leaf] as number, leafIndexes[leaf + 1] as number);
  }

  /** The leaf's path takes all nodes that wait below `end`, and waits there itself. */
  private meet(end: number): void {
    const {waiting} = this;
    while (waiting.length > 0 && (waiting.at(-1) as number) < end) waiting.pop();
    waiting.push(end);
  }

  private readLeaf(leafIndex: number): void {
    const page = this.page as Buffer;
    const entry = findEntry(page, leafIndex);
    if (entry < 0) throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
    this.prev = entryPrev(page, entry);
    this.next = entryNext(page, entry);
    this.leafIndex = leafIndex;
    this.leafEntry = entry;
  }

  /** Copies the siblings below `end` that are not empty and that no earlier leaf gives. */
  private collect(leafIndex: number, end: number): void {
    const {open, waiting} = this;
    let taken = waiting.length - 1;
    let height = 0;
    for (let level = 0; level <= open.top && height < end; level++) {
      const page = open.pageOver(leafIndex, level);
      const count = level === 0 ? leafCount(page) : 2 * childCount(page);
      const rows = level === 0 ? leafRows(page) : INNER_ROWS;
      let position = Math.floor(leafIndex / 2 ** height) % 2 ** (rows + 1);
      for (let row = 0; row < rows && height < end; row++) {
        const sibling = position ^ 1;
        if (waiting[taken] === height) taken--;
        else if (sibling < rowLength(count, row)) {
          const rowAt = level === 0 ? leafRowAt(count, row) : innerRowAt(count / 2, row);
          this.add(page, rowAt + sibling * WORD_BYTES, height);
        }
        position >>= 1;
        height++;
      }
    }
    // The nodes at this height are all under the top page, so every other sibling up to the sub-root is empty.
    if (height < end && waiting[taken] !== height) this.addHalf(leafIndex, height);
  }

  private addHalf(leafIndex: number, height: number): void {
    this.open.nodeInto(height, Math.floor(leafIndex / 2 ** height) ^ 1, this.half, 0);
    this.add(this.half, 0, height);
  }

  private add(from: Uint8Array, at: number, height: number): void {
    if (compareWordAt(from, at, this.zeros[height] as Uint8Array) === 0) return;
    this.siblingsIn[this.siblingCount] = from;
    this.siblingsAt[this.siblingCount] = at;
    this.siblingCount++;
    const byte = BITMAP_BYTES - 1 - (height >> 3);
    this.bitmap[byte] = (this.bitmap[byte] as number) | (1 << (height & 7));
  }
}

/** The height of the two nodes, children of one branch, under which two leaves lie. */
export function meetingHeight(i: number, j: number): number {
  // Bitwise operators stop at 32 bits, and leaf indexes have 40.
  const high = Math.floor(i / 2 ** 32) ^ Math.floor(j / 2 ** 32);
  return high === 0 ? 31 - Math.clz32(i ^ j) : 63 - Math.clz32(high);
}
