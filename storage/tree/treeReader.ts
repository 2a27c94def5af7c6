/** Reads the pages and leaves of one tree as of one block, from the tree's root. */

import {StoreError} from "../errors.ts";
import {compareWordAt} from "../hash/hKeyOrder.ts";
import {childOnPath, rootLevel, SMALL_TREE} from "../page/geometry.ts";
import {childCount, childPage, expectInner} from "../page/innerPage.ts";
import {expectLeafPage, type Leaf, leafAt, leafCount} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import {HEAD_INDEX, TAIL_INDEX} from "./emptyTree.ts";
import {searchIndex} from "./hKeyIndex.ts";
import type {TreeRoot} from "./treeRoot.ts";

/** Where a key stands among the leaves. */
export type KeyPosition =
  | {readonly present: true; readonly leafIndex: number}
  /** The leaves just before and just after the key. They are neighbours in the linked list. */
  | {readonly present: false; readonly leftLeafIndex: number; readonly rightLeafIndex: number};

/**
 * @param tree - rootPage is not 0. @param hKey - above 0..0, below the tail's
 * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
 */
export function findKey(pages: PageReader, tree: TreeRoot, hKey: Uint8Array): KeyPosition {
  if (tree.indexPage === 0) return searchLeafPage(firstLeafPage(pages, tree), hKey);
  const leafIndex = searchIndex(pages, tree.indexPage, 0, hKey);
  return positionBy(readLeaf(pages, tree, leafIndex), leafIndex, hKey);
}

/** @param leaf - the key's, or the nearest one below or above it */
export function positionBy(leaf: Leaf, leafIndex: number, hKey: Uint8Array): KeyPosition {
  const order = compareWordAt(leaf.hKey, 0, hKey);
  if (order === 0) return {present: true, leafIndex};
  return order < 0
    ? {present: false, leftLeafIndex: leafIndex, rightLeafIndex: leaf.next}
    : {present: false, leftLeafIndex: leaf.prev, rightLeafIndex: leafIndex};
}

/** The leaf page with all leaves of a tree without index. @throws StoreError RECORD_DAMAGED if other pages have leaves */
function firstLeafPage(pages: PageReader, tree: TreeRoot): Buffer {
  const page = readLeafPage(pages, tree, HEAD_INDEX);
  if (tree.nextFreeNode > SMALL_TREE && leafAt(page, HEAD_INDEX)?.next !== TAIL_INDEX)
    throw new StoreError(
      "RECORD_DAMAGED",
      `a tree of ${tree.nextFreeNode} positions has leaves, but no index`,
    );
  return page;
}

/** Leaves of a tree without index are compared one by one. */
function searchLeafPage(page: Buffer, hKey: Uint8Array): KeyPosition {
  let left = leafAt(page, HEAD_INDEX) as Leaf;
  let leftLeafIndex = HEAD_INDEX;
  for (let i = HEAD_INDEX + 1; i < leafCount(page); i++) {
    const leaf = leafAt(page, i);
    if (leaf === undefined) continue;
    const order = compareWordAt(leaf.hKey, 0, hKey);
    if (order === 0) return {present: true, leafIndex: i};
    if (order < 0 && compareWordAt(leaf.hKey, 0, left.hKey) > 0) {
      left = leaf;
      leftLeafIndex = i;
    }
  }
  return {present: false, leftLeafIndex, rightLeafIndex: left.next};
}

/** @throws StoreError RECORD_MISSING if there is no leaf at `leafIndex`: the record that points to it is damaged */
export function readLeaf(pages: PageReader, tree: TreeRoot, leafIndex: number): Leaf {
  const leaf = leafAt(readLeafPage(pages, tree, leafIndex), leafIndex);
  if (leaf === undefined)
    throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
  return leaf;
}

/** The leaf page over a position, found by walking down from the root. */
export function readLeafPage(pages: PageReader, tree: TreeRoot, leafIndex: number): Buffer {
  if (leafIndex >= tree.nextFreeNode)
    throw new StoreError("RECORD_DAMAGED", `leaf position ${leafIndex} of a tree of ${tree.nextFreeNode}`);
  let page = tree.rootPage;
  for (let level = rootLevel(tree.nextFreeNode); level > 0; level--) {
    const body = expectInner(pages.read(page), level, page);
    page = childOf(page, body, childOnPath(level, leafIndex));
  }
  return expectLeafPage(pages.read(page), tree.nextFreeNode, page);
}

/** @param body - of inner page `page`. @throws StoreError RECORD_DAMAGED if it has no such child */
export function childOf(page: number, body: Buffer, position: number): number {
  if (position >= childCount(body))
    throw new StoreError("RECORD_DAMAGED", `page ${page} has no child ${position}`);
  return childPage(body, position);
}
