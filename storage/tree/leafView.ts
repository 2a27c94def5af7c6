/**
 * A leaf without its path. It is opened like a LeafPath. A multiproof keeps its page until it writes the leaf's record, so that a
 * page is read once.
 */
import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import {entryKeyAt, findEntry, type Leaf, leafAt} from "../page/leafPage.ts";
import type {PageReader} from "../page/pages.ts";
import {readLeafPage} from "./treeReader.ts";
import type {TreeRoot} from "./treeRoot.ts";

export class LeafView {
  /** The page of the leaf that was opened last; undefined before the first, and after `clear`. */
  page: Buffer | undefined;
  private position = 0;

  get leaf(): Leaf | undefined {
    return this.page === undefined ? undefined : leafAt(this.page, this.position);
  }

  clear(): void {
    this.page = undefined;
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  open(pages: PageReader, tree: TreeRoot, leafIndex: number): void {
    if (!this.openIf(pages, tree, leafIndex, undefined))
      throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
  }

  /**
   * Like `open`, for a leaf that may belong to another key, be deleted, or not exist yet. @returns whether it has this key
   */
  openIfKey(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array): boolean {
    return leafIndex < tree.nextFreeNode && this.openIf(pages, tree, leafIndex, hKey);
  }

  private openIf(
    pages: PageReader,
    tree: TreeRoot,
    leafIndex: number,
    hKey: Uint8Array | undefined,
  ): boolean {
    const page = readLeafPage(pages, tree, Math.floor(leafIndex / LEAVES_PER_PAGE));
    const position = leafIndex % LEAVES_PER_PAGE;
    const entry = findEntry(page, position);
    if (entry < 0 || (hKey !== undefined && compareWordAt(page, entryKeyAt(entry), hKey) !== 0)) return false;
    this.page = page;
    this.position = position;
    return true;
  }
}
