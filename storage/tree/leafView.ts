/**
 * A leaf without its path, as the EVM reads it. It is opened like a LeafPath.
 */
import {compareHKeyAt} from "../hash/hKeyOrder.ts";
import {LEAVES_PER_PAGE} from "../page/geometry.ts";
import {type Leaf, leafAt} from "../page/leafPage.ts";
import type {PageReader} from "../page/pages.ts";
import {readLeaf, readLeafPage} from "./treeReader.ts";
import type {TreeRoot} from "./treeRoot.ts";

export class LeafView {
  /** The leaf that was opened last; undefined before the first. */
  leaf: Leaf | undefined;

  /** @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  open(pages: PageReader, tree: TreeRoot, leafIndex: number): void {
    this.leaf = readLeaf(pages, tree, leafIndex);
  }

  /**
   * Like `open`, for a leaf that may belong to another key, be deleted, or not exist yet. @returns whether it has this key
   */
  openIfKey(pages: PageReader, tree: TreeRoot, leafIndex: number, hKey: Uint8Array): boolean {
    if (leafIndex >= tree.nextFreeNode) return false;
    const page = readLeafPage(pages, tree, Math.floor(leafIndex / LEAVES_PER_PAGE));
    const leaf = leafAt(page, leafIndex % LEAVES_PER_PAGE);
    if (leaf === undefined || compareHKeyAt(leaf.hKey, 0, hKey) !== 0) return false;
    this.leaf = leaf;
    return true;
  }
}
