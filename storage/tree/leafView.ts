/** A leaf that a tree opens for a key, with its path (leafPath.ts) or without. */
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {entryKeyAt, findEntry, type Leaf, leafAt} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import {readLeafPage} from "./treeReader.ts";
import type {TreeRoot} from "./treeRoot.ts";

export interface OpenedLeaf {
  /**
   * @param tree - a stored tree: rootPage is not 0. @param hKey - undefined: whatever the leaf's key is
   * @returns whether the leaf is there, with this key. If not, the other fields are not valid. @throws StoreError
   */
  tryOpen(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array | undefined): boolean;
}

/** Without its path. A multiproof keeps its page until it writes the leaf's record, so that a page is read once. */
export class LeafView implements OpenedLeaf {
  /** Of the leaf that was opened last; undefined before the first, and after `clear`. */
  page: Buffer | undefined;
  private leafIndex = 0;

  get leaf(): Leaf | undefined {
    return this.page === undefined ? undefined : leafAt(this.page, this.leafIndex);
  }

  clear(): void {
    this.page = undefined;
  }

  tryOpen(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array | undefined): boolean {
    if (leafIndex >= tree.nextFreeNode) return false;
    const page = readLeafPage(pages, tree, leafIndex);
    const entry = findEntry(page, leafIndex);
    if (entry < 0 || (hKey !== undefined && compareWordAt(page, entryKeyAt(entry), hKey) !== 0)) return false;
    this.page = page;
    this.leafIndex = leafIndex;
    return true;
  }
}
