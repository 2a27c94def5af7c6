/**
 * The leaf page of a leaf that was looked up, without its path. A multiproof keeps it until it writes the leaf's record, so that
 * a page is read once.
 */
import {StoreError} from "../errors.ts";
import {compareHKeyAt} from "../hash/hKeyOrder.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import {entryKeyAt, findEntry} from "../page/leafPage.ts";
import type {PageReader} from "../page/pages.ts";
import {readLeafPage} from "./treeReader.ts";
import type {TreeRoot} from "./treeRoot.ts";

export class LeafPageView {
  /** The page of the leaf that was opened last; undefined before the first, and after `clear`. */
  page: Buffer | undefined;

  clear(): void {
    this.page = undefined;
  }

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  open(pages: PageReader, tree: TreeRoot, leafIndex: number): void {
    const page = readLeafPage(pages, tree, Math.floor(leafIndex / LEAVES_PER_PAGE));
    if (findEntry(page, leafIndex % LEAVES_PER_PAGE) < 0)
      throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
    this.page = page;
  }

  /**
   * Like `open`, for a leaf that may belong to another key, be deleted, or not exist yet. @returns whether it has this key
   */
  openIfKey(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array): boolean {
    if (leafIndex >= tree.nextFreeNode) return false;
    const page = readLeafPage(pages, tree, Math.floor(leafIndex / LEAVES_PER_PAGE));
    const entry = findEntry(page, leafIndex % LEAVES_PER_PAGE);
    if (entry < 0 || compareHKeyAt(page, entryKeyAt(entry), hKey) !== 0) return false;
    this.page = page;
    return true;
  }
}
