/**
 * A tree that is being changed. Changed leaf pages are drafts in memory; `seal` hashes each changed node once and
 * writes the changed pages (treeSeal.ts). A sealed version stays readable under its TreeRoot.
 */

import {compareWordAt} from "../hash/hKeyOrder.ts";
import {LEAVES_PER_PAGE, leavesPerPage, rootLevel, SMALL_TREE} from "../page/geometry.ts";
import type {Leaf} from "../page/leafPage.ts";
import {LeafPageDraft} from "../page/pageDraft.ts";
import {FIRST_FREE_NODE, HEAD_INDEX, hashTopRoot, TAIL_INDEX, ZERO_WORD} from "../tree/emptyTree.ts";
import {type KeyPosition, positionBy} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {IndexWriter} from "./indexWriter.ts";
import {StoredPages, type TreeContext, TreeSeal} from "./treeSeal.ts";

/** A seal is due when this many leaf pages are drafts: about 100 MB of objects. */
const MAX_DRAFTS = 1 << 15;
/** Of a new tree, whose leaves come in order: a seal writes few pages that the next one replaces. */
const MAX_NEW_DRAFTS = 1 << 12;

export class TreeWriter {
  private sealed: TreeRoot;
  private stored: StoredPages;
  private nextFreeNode: number;
  private leavesPerPage: number;
  private readonly mostDrafts: number;
  private drafts = new Map<number, LeafPageDraft>();
  /** undefined: the tree is small. */
  private index: IndexWriter | undefined;

  constructor(
    private readonly context: TreeContext,
    root: TreeRoot,
  ) {
    this.sealed = root;
    this.stored = new StoredPages(context.pages, root);
    this.nextFreeNode = root.nextFreeNode;
    this.leavesPerPage = leavesPerPage(root.nextFreeNode);
    if (root.nextFreeNode > SMALL_TREE) this.index = this.openIndex(root.indexPage);
    this.mostDrafts = root.rootPage === 0 ? MAX_NEW_DRAFTS : MAX_DRAFTS;
  }

  get nextLeafIndex(): number {
    return this.nextFreeNode;
  }

  get needsSeal(): boolean {
    return this.drafts.size >= this.mostDrafts;
  }

  find(hKey: Uint8Array): KeyPosition {
    if (this.index === undefined) return this.searchFirstPage(hKey);
    const leafIndex = this.index.search(hKey);
    if (leafIndex === undefined)
      return {present: false, leftLeafIndex: HEAD_INDEX, rightLeafIndex: TAIL_INDEX};
    return positionBy(this.leaf(leafIndex), leafIndex, hKey);
  }

  leaf(leafIndex: number): Leaf {
    const leaf = this.draft(leafIndex).leafAt(leafIndex);
    if (leaf === undefined) throw new RangeError(`leaf ${leafIndex} is deleted`);
    return leaf;
  }

  /** @param at - the key's neighbours, from `find`. @returns the new leaf's index */
  insert(
    at: {leftLeafIndex: number; rightLeafIndex: number},
    hKey: Uint8Array,
    hVal: Uint8Array,
    value: Uint8Array,
  ): number {
    const {leftLeafIndex, rightLeafIndex} = at;
    const leafIndex = this.nextFreeNode;
    rootLevel(leafIndex + 1); // throws if the tree is full, before anything changes
    if (leafIndex === SMALL_TREE) this.splitSmallTree();
    this.setLeaf(leftLeafIndex, {...this.leaf(leftLeafIndex), next: leafIndex});
    this.setLeaf(leafIndex, {prev: leftLeafIndex, next: rightLeafIndex, hKey, hVal, value});
    this.setLeaf(rightLeafIndex, {...this.leaf(rightLeafIndex), prev: leafIndex});
    this.nextFreeNode = leafIndex + 1;
    if (this.index !== undefined) this.index.insert(hKey, leafIndex);
    else if (this.nextFreeNode > SMALL_TREE) this.index = this.indexOfAll();
    return leafIndex;
  }

  update(leafIndex: number, hVal: Uint8Array, value: Uint8Array): void {
    this.setLeaf(leafIndex, {...this.leaf(leafIndex), hVal, value});
  }

  delete(leafIndex: number): void {
    const {prev, next, hKey} = this.leaf(leafIndex);
    this.setLeaf(prev, {...this.leaf(prev), next});
    this.setLeaf(leafIndex, undefined);
    this.setLeaf(next, {...this.leaf(next), prev});
    this.index?.remove(hKey);
  }

  /** Hashes and writes the changed pages. @returns the new version */
  seal(): TreeRoot {
    const dirty = [...this.drafts.values()].filter(draft => draft.dirty !== 0);
    // With the two sentinels alone it is still a new tree, which is not stored.
    if (dirty.length === 0 || this.nextFreeNode === FIRST_FREE_NODE) {
      this.drafts.clear();
      return this.sealed;
    }
    const {nextFreeNode} = this;
    const seal = new TreeSeal(this.context, this.stored);
    for (const draft of dirty.sort((a, b) => a.pageIndex - b.pageIndex)) seal.add(draft);
    const {rootPage, subRoot} = seal.finish(nextFreeNode);
    this.sealed = {nextFreeNode, rootPage, indexPage: this.index?.seal() ?? 0, subRoot};
    this.stored = new StoredPages(this.context.pages, this.sealed);
    this.drafts = new Map();
    return this.sealed;
  }

  topRoot(): Uint8Array {
    return hashTopRoot(this.context.suite, this.sealed.nextFreeNode, this.sealed.subRoot);
  }

  private setLeaf(leafIndex: number, leaf: Leaf | undefined): void {
    this.draft(leafIndex).setLeaf(leafIndex, leaf);
  }

  private draft(leafIndex: number): LeafPageDraft {
    const pageIndex = Math.floor(leafIndex / this.leavesPerPage);
    let draft = this.drafts.get(pageIndex);
    if (draft === undefined) {
      draft = this.loadDraft(pageIndex);
      this.drafts.set(pageIndex, draft);
    }
    return draft;
  }

  private splitSmallTree(): void {
    const pages = this.draft(HEAD_INDEX).split();
    this.leavesPerPage = LEAVES_PER_PAGE;
    this.drafts = new Map(pages.map(page => [page.pageIndex, page]));
  }

  private loadDraft(pageIndex: number): LeafPageDraft {
    const page = this.stored.find(0, pageIndex);
    const draft = new LeafPageDraft(pageIndex, this.leavesPerPage, page);
    if (page === undefined && pageIndex === 0) {
      const sentinel = {prev: HEAD_INDEX, next: TAIL_INDEX, hVal: ZERO_WORD, value: new Uint8Array(0)};
      draft.setLeaf(HEAD_INDEX, {...sentinel, hKey: ZERO_WORD});
      draft.setLeaf(TAIL_INDEX, {...sentinel, hKey: this.context.suite.tailHKey});
    }
    return draft;
  }

  /** A tree without an index has all leaves in its first page. */
  private searchFirstPage(hKey: Uint8Array): KeyPosition {
    let leftLeafIndex = HEAD_INDEX;
    for (let next = this.leaf(HEAD_INDEX).next; next !== TAIL_INDEX; next = this.leaf(next).next) {
      const order = compareWordAt(this.leaf(next).hKey, 0, hKey);
      if (order === 0) return {present: true, leafIndex: next};
      if (order > 0) break;
      leftLeafIndex = next;
    }
    return {present: false, leftLeafIndex, rightLeafIndex: this.leaf(leftLeafIndex).next};
  }

  private openIndex(page: number): IndexWriter {
    return new IndexWriter(this.context.pages, page, leafIndex => this.leaf(leafIndex).hKey);
  }

  private indexOfAll(): IndexWriter {
    const index = this.openIndex(0);
    for (let leafIndex = FIRST_FREE_NODE; leafIndex < this.nextFreeNode; leafIndex++) {
      const leaf = this.draft(leafIndex).leafAt(leafIndex);
      if (leaf !== undefined) index.insert(leaf.hKey, leafIndex);
    }
    return index;
  }
}
