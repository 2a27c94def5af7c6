/**
 * One tree being changed: leaves in drafts, hashed and written by `seal`, from the leaf pages up to the root.
 *
 * Operations cost what they touch; hashing happens once per changed node and seal, in batches, however often a
 * leaf was written. A sealed version stays readable for ever under its TreeRoot.
 */

import {compareHKeyAt} from "../hash/hKeyOrder.ts";
import type {PairBatch} from "../hash/pairBatch.ts";
import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {
  childrenPerPage,
  LEAVES_PER_PAGE,
  lowestHeight,
  POSITIONS_PER_PAGE,
  pageRootHeight,
  rootLevel,
  rowCount,
} from "../page/geometry.ts";
import type {Leaf} from "../page/leafPage.ts";
import {InnerPageDraft, LeafPageDraft} from "../page/pageDraft.ts";
import type {PageWriter} from "../page/pages.ts";
import {
  type EmptyTree,
  FIRST_FREE_NODE,
  foldLeftSpine,
  HEAD_INDEX,
  hashTopRoot,
  TAIL_INDEX,
  ZERO_WORD,
} from "../tree/emptyTree.ts";
import {findPage, type KeyPosition, readLeafPage} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import {IndexWriter} from "./indexWriter.ts";

/** What the trees of one import share. */
export interface TreeContext {
  readonly suite: HashSuite;
  readonly empty: EmptyTree;
  readonly pages: PageWriter;
  readonly pairs: PairBatch;
}

/** A seal is due when this many leaf pages are drafts: about 100 MB of objects. */
const MAX_DRAFTS = 1 << 15;

export class TreeWriter {
  private readonly context: TreeContext;
  private readonly opening: Uint8Array;
  /** The last sealed version. */
  private sealed: TreeRoot;
  private nextFreeNode: number;
  private drafts = new Map<number, LeafPageDraft>();
  /** Only above one leaf page of leaves. */
  private index: IndexWriter | undefined;

  constructor(context: TreeContext, root: TreeRoot) {
    this.context = context;
    this.opening = new Uint8Array(context.suite.leafOpeningBytes);
    this.sealed = root;
    this.nextFreeNode = root.nextFreeNode;
    if (root.nextFreeNode > LEAVES_PER_PAGE) this.index = new IndexWriter(context.pages, root.indexPage);
  }

  get needsSeal(): boolean {
    return this.drafts.size >= MAX_DRAFTS;
  }

  find(hKey: Uint8Array): KeyPosition {
    if (this.index === undefined) return this.searchFirstPage(hKey);
    const position = this.index.search(hKey);
    if (position === undefined)
      return {present: false, leftLeafIndex: HEAD_INDEX, rightLeafIndex: TAIL_INDEX};
    const {kind, leafIndex} = position;
    if (kind === "exact") return {present: true, leafIndex};
    const leaf = this.leaf(leafIndex);
    return kind === "lower"
      ? {present: false, leftLeafIndex: leafIndex, rightLeafIndex: leaf.next}
      : {present: false, leftLeafIndex: leaf.prev, rightLeafIndex: leafIndex};
  }

  /** The leaf at an index in use. */
  leaf(leafIndex: number): Leaf {
    const leaf = this.draft(leafIndex).leaves[leafIndex % LEAVES_PER_PAGE];
    if (leaf === undefined) throw new RangeError(`leaf ${leafIndex} is deleted`);
    return leaf;
  }

  /** @param at - where `find` says that the absent key belongs */
  insert(
    at: {leftLeafIndex: number; rightLeafIndex: number},
    hKey: Uint8Array,
    hVal: Uint8Array,
    value: Uint8Array,
  ): void {
    const {leftLeafIndex, rightLeafIndex} = at;
    const leafIndex = this.nextFreeNode;
    rootLevel(leafIndex + 1); // refuses a full tree before anything changes
    this.setLeaf(leftLeafIndex, {...this.leaf(leftLeafIndex), next: leafIndex});
    this.setLeaf(leafIndex, {prev: leftLeafIndex, next: rightLeafIndex, hKey, hVal, value});
    this.setLeaf(rightLeafIndex, {...this.leaf(rightLeafIndex), prev: leafIndex});
    this.nextFreeNode = leafIndex + 1;
    if (this.index !== undefined) this.index.insert(hKey, leafIndex);
    else if (this.nextFreeNode > LEAVES_PER_PAGE) this.index = this.indexOfAll();
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

  /** Hashes and writes what changed. @returns the tree as it now is */
  seal(): TreeRoot {
    const dirty = [...this.drafts.values()].filter(draft => draft.dirty !== 0);
    if (dirty.length === 0) {
      this.drafts.clear();
      return this.sealed;
    }
    dirty.sort((a, b) => a.pageIndex - b.pageIndex);
    const {suite, empty, pages, pairs} = this.context;
    const top = rootLevel(this.nextFreeNode);
    this.hashLeaves(dirty);
    let drafts: (LeafPageDraft | InnerPageDraft)[] = dirty;
    for (let level = 0; level < top; level++) {
      this.hashRows(drafts, level);
      drafts = this.sealLevel(drafts, level);
    }
    this.hashRows(drafts, top);
    const root = drafts[0] as LeafPageDraft | InnerPageDraft;
    const height = pageRootHeight(top);
    const pair = new Uint8Array(2 * WORD_BYTES);
    this.hashPair(root, top, true, pair, 0);
    pairs.finish();
    const node = new Uint8Array(WORD_BYTES);
    suite.hashPairsInto(pair, 1, node);
    this.sealed = {
      nextFreeNode: this.nextFreeNode,
      rootPage: pages.putPage(spare => root.encode(spare)),
      indexPage: this.index?.seal() ?? 0,
      subRoot: foldLeftSpine(suite, empty.zeros, node, height),
    };
    this.drafts = new Map();
    return this.sealed;
  }

  /** 32 bytes, of the sealed version. */
  topRoot(): Uint8Array {
    return hashTopRoot(this.context.suite, this.sealed.nextFreeNode, this.sealed.subRoot);
  }

  private hashLeaves(drafts: readonly LeafPageDraft[]): void {
    const {suite} = this.context;
    for (const draft of drafts)
      for (let position = 0; position < draft.leaves.length; position++) {
        if (((draft.dirty >> position) & 1) === 0) continue;
        const leaf = draft.leaves[position];
        if (leaf !== undefined)
          suite.encodeLeafOpeningInto(this.opening, 0, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
        draft.nodes.set(leaf === undefined ? ZERO_WORD : suite.hashNode(this.opening), draft.at(0, position));
      }
  }

  private hashRows(drafts: readonly (LeafPageDraft | InnerPageDraft)[], level: number): void {
    const {empty, pairs} = this.context;
    for (let row = 1; row < rowCount(level); row++) {
      const zero = empty.zeros[lowestHeight(level) + row - 1] as Uint8Array;
      for (const draft of drafts) draft.hashRow(row, zero, pairs);
      pairs.finish();
    }
  }

  /** The two nodes under a page's root, into `out`. @param all - also a half that has not changed */
  private hashPair(
    draft: LeafPageDraft | InnerPageDraft,
    level: number,
    all: boolean,
    out: Uint8Array,
    outAt: number,
  ): void {
    const {empty, pairs} = this.context;
    const height = pageRootHeight(level) - 1;
    const zero = empty.zeros[height - 1] as Uint8Array;
    draft.hashPair(zero, empty.zeros[height] as Uint8Array, all, pairs, out, outAt);
  }

  /** Writes the pages of a level below the root's. @returns the drafts of their parents */
  private sealLevel(drafts: readonly (LeafPageDraft | InnerPageDraft)[], level: number): InnerPageDraft[] {
    const {pages, pairs} = this.context;
    const parents: InnerPageDraft[] = [];
    const siblings = childrenPerPage(level + 1);
    let parent: InnerPageDraft | undefined;
    for (const draft of drafts) {
      const parentIndex = Math.floor(draft.pageIndex / siblings);
      if (parent?.pageIndex !== parentIndex) {
        parent = new InnerPageDraft(parentIndex, level + 1, this.storedPage(level + 1, parentIndex));
        parents.push(parent);
      }
      const position = draft.pageIndex % siblings;
      parent.setChild(
        position,
        pages.putPage(spare => draft.encode(spare)),
      );
      this.hashPair(draft, level, parent.isNew, parent.nodes, parent.at(0, 2 * position));
    }
    pairs.finish();
    return parents;
  }

  /** A page of the last sealed version, or undefined if it has none there. */
  private storedPage(level: number, pageIndex: number): Buffer | undefined {
    const {rootPage, nextFreeNode} = this.sealed;
    const isStored =
      rootPage !== 0 &&
      level <= rootLevel(nextFreeNode) &&
      pageIndex * (POSITIONS_PER_PAGE[level] as number) < nextFreeNode;
    return isStored
      ? this.context.pages.read(findPage(this.context.pages, this.sealed, level, pageIndex))
      : undefined;
  }

  private setLeaf(leafIndex: number, leaf: Leaf | undefined): void {
    this.draft(leafIndex).setLeaf(leafIndex % LEAVES_PER_PAGE, leaf);
  }

  private draft(leafIndex: number): LeafPageDraft {
    const pageIndex = Math.floor(leafIndex / LEAVES_PER_PAGE);
    let draft = this.drafts.get(pageIndex);
    if (draft === undefined) {
      draft = this.loadDraft(pageIndex);
      this.drafts.set(pageIndex, draft);
    }
    return draft;
  }

  private loadDraft(pageIndex: number): LeafPageDraft {
    const {rootPage, nextFreeNode} = this.sealed;
    if (rootPage !== 0 && pageIndex * LEAVES_PER_PAGE < nextFreeNode)
      return new LeafPageDraft(pageIndex, readLeafPage(this.context.pages, this.sealed, pageIndex));
    const draft = new LeafPageDraft(pageIndex, undefined);
    if (pageIndex === 0) {
      const sentinel = {prev: HEAD_INDEX, next: TAIL_INDEX, hVal: ZERO_WORD, value: new Uint8Array(0)};
      draft.setLeaf(HEAD_INDEX, {...sentinel, hKey: ZERO_WORD});
      draft.setLeaf(TAIL_INDEX, {...sentinel, hKey: this.context.suite.tailHKey});
    }
    return draft;
  }

  /** Without an index all leaves stand in the first page. */
  private searchFirstPage(hKey: Uint8Array): KeyPosition {
    let leftLeafIndex = HEAD_INDEX;
    for (let next = this.leaf(HEAD_INDEX).next; next !== TAIL_INDEX; next = this.leaf(next).next) {
      const order = compareHKeyAt(this.leaf(next).hKey, 0, hKey);
      if (order === 0) return {present: true, leafIndex: next};
      if (order > 0) break;
      leftLeafIndex = next;
    }
    return {present: false, leftLeafIndex, rightLeafIndex: this.leaf(leftLeafIndex).next};
  }

  private indexOfAll(): IndexWriter {
    const index = new IndexWriter(this.context.pages, 0);
    for (let leafIndex = FIRST_FREE_NODE; leafIndex < this.nextFreeNode; leafIndex++) {
      const leaf = this.draft(leafIndex).leaves[leafIndex % LEAVES_PER_PAGE];
      if (leaf !== undefined) index.insert(leaf.hKey, leafIndex);
    }
    return index;
  }
}
