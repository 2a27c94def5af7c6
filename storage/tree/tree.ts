/**
 * One tree as of one block. A key is first looked for where it stood before (KeyHints), then in the hKey index. The age
 * of the block makes no difference: every page is reached from the TreeRoot by point reads.
 */

import {StoreError} from "../errors.ts";
import type {Leaf} from "../page/leafPage.ts";
import type {PageReader} from "../page/pageReader.ts";
import {FIRST_FREE_NODE, HEAD_INDEX, TAIL_INDEX} from "./emptyTree.ts";
import {searchIndex} from "./hKeyIndex.ts";
import {ACCOUNTS_SALT, type KeyHints, NO_HINT, saltOf} from "./keyHints.ts";
import {LeafView, type OpenedLeaf} from "./leafView.ts";
import {findKey, type KeyPosition, positionBy, readLeaf} from "./treeReader.ts";
import type {TreeRoot} from "./treeRoot.ts";

interface TreeSource {
  readonly pages: PageReader;
  readonly hints: KeyHints;
}

export function accountTree(source: TreeSource, root: TreeRoot): Tree {
  return new Tree(source, root, ACCOUNTS_SALT);
}

/** The tree of an account's slots. @param root - from the account's leaf. @param accountHKey - 32 bytes */
export function storageTree(source: TreeSource, root: TreeRoot, accountHKey: Uint8Array): Tree {
  return new Tree(source, root, saltOf(accountHKey));
}

export class Tree {
  private readonly pages: PageReader;
  private readonly hints: KeyHints;

  constructor(
    {pages, hints}: TreeSource,
    readonly root: TreeRoot,
    /** Separates the hints of this tree's keys from those of other trees. */
    private readonly salt: number,
  ) {
    this.pages = pages;
    this.hints = hints;
  }

  /** A new tree is not stored, so it has no path to open. */
  get isNew(): boolean {
    return this.root.rootPage === 0;
  }

  /** Has the tree no leaf between head and tail? @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
  get isEmpty(): boolean {
    return (
      this.root.nextFreeNode === FIRST_FREE_NODE ||
      readLeaf(this.pages, this.root, HEAD_INDEX).next === TAIL_INDEX
    );
  }

  /** @returns the key's leaf, with views of its page; undefined if there is no such key. @throws as `open` */
  read(hKey: Uint8Array): Leaf | undefined {
    const view = new LeafView();
    this.open(view, hKey);
    return view.leaf;
  }

  /**
   * Hot: once per proved key. @param leaf - opened if the key is present. @param hKey - between head's and tail's
   *
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  open(leaf: OpenedLeaf, hKey: Uint8Array): KeyPosition {
    if (this.isNew) return {present: false, leftLeafIndex: HEAD_INDEX, rightLeafIndex: TAIL_INDEX};
    const hinted = this.hints.find(hKey, this.salt);
    if (hinted !== NO_HINT && leaf.tryOpen(this.pages, this.root, hinted, hKey))
      return {present: true, leafIndex: hinted};
    if (this.root.indexPage !== 0) return this.openIndexed(leaf, hKey);
    const position = findKey(this.pages, this.root, hKey);
    if (position.present) this.openAt(leaf, position.leafIndex);
    return position;
  }

  private openIndexed(leaf: OpenedLeaf, hKey: Uint8Array): KeyPosition {
    const {pages, root} = this;
    // Almost no absent key begins as one in its bucket does. The others are spared the search for a path.
    let beginsAlike = false;
    const leafIndex = searchIndex(pages, root.indexPage, 0, hKey, bucket => {
      beginsAlike = true;
      this.hints.noteBucket(bucket, this.salt);
    });
    if (beginsAlike && leaf.tryOpen(pages, root, leafIndex, hKey)) return {present: true, leafIndex};
    const position = positionBy(readLeaf(pages, root, leafIndex), leafIndex, hKey);
    if (position.present)
      throw new StoreError("RECORD_DAMAGED", `the index lacks the key of leaf ${leafIndex}`);
    return position;
  }

  /** For the leaf at `leafIndex`, for example a neighbour of an absent key. @throws as `open` */
  openAt(leaf: OpenedLeaf, leafIndex: number): void {
    if (leaf.tryOpen(this.pages, this.root, leafIndex, undefined)) return;
    const {nextFreeNode} = this.root;
    if (leafIndex >= nextFreeNode)
      throw new StoreError("RECORD_DAMAGED", `leaf ${leafIndex} of a tree of ${nextFreeNode}`);
    throw new StoreError("RECORD_MISSING", `leaf ${leafIndex} is deleted, but pointed to`);
  }
}
