/** The changed leaf pages of a tree, hashed and written with all pages above them, in batches of one row. */
import type {PairBatch} from "../hash/pairBatch.ts";
import {type HashSuite, WORD_BYTES} from "../hash/suite.ts";
import {
  CHILDREN,
  lowestHeight,
  occupied,
  POSITIONS_PER_PAGE,
  rootHeight,
  rootLevel,
  SMALL_TREE,
} from "../page/geometry.ts";
import {expectInner} from "../page/innerPage.ts";
import {expectLeafPage} from "../page/leafPage.ts";
import {InnerPageDraft, type LeafPageDraft} from "../page/pageDraft.ts";
import type {PageReader, PageWriter} from "../page/pageReader.ts";
import {type EmptyTree, foldLeftSpine, ZERO_WORD} from "../tree/emptyTree.ts";
import {childOf} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";

export interface TreeContext {
  readonly suite: HashSuite;
  readonly empty: EmptyTree;
  readonly pages: PageWriter;
  readonly pairs: PairBatch;
}

/** Leaves hashed in one call: in a batch, the poseidon2 suite takes a quarter of the time. */
const LEAVES_AT_ONCE = 64;

type PageDraft = LeafPageDraft | InnerPageDraft;

/**
 * Seals leaf pages that come in order, each once.
 *
 *   level 2    page                            pages wait at their level until there are `atOnce`, or the tree ends
 *   level 1    page  page  page ...
 *   level 0    page  page  page  page ...
 */
export class TreeSeal {
  private readonly waiting: PageDraft[][] = [];
  /** Leaf positions of the tree. Until they are known, pages above are full. */
  private positions = Number.POSITIVE_INFINITY;

  /**
   * @param stored - the version that the pages change
   * @param atOnce - pages that are hashed together. It may be finite only for a new tree, all of whose pages are full:
   *   then a multiple of the children of every page, so that no parent is sealed before it is full
   */
  constructor(
    private readonly context: TreeContext,
    private readonly stored: StoredPages,
    private readonly atOnce: number = Number.POSITIVE_INFINITY,
  ) {}

  /** @param page - its index is above that of the last one */
  add(page: LeafPageDraft): void {
    this.wait(page, 0);
  }

  /** @param nextFreeNode - of the new version, above FIRST_FREE_NODE. One page at least was added */
  finish(nextFreeNode: number): Pick<TreeRoot, "rootPage" | "subRoot"> {
    const {context} = this;
    const {suite, empty, pairs} = context;
    this.positions = nextFreeNode;
    const top = rootLevel(nextFreeNode);
    for (let level = 0; level < top; level++) this.seal(level);
    const root = this.waiting[top]?.[0] as PageDraft;
    if (top === 0) hashLeaves(context, [root as LeafPageDraft]);
    root.needsBoth = true;
    hashRows(context, [root], top);
    const pair = new Uint8Array(2 * WORD_BYTES);
    hashPair(context, root, top, pair, 0);
    pairs.finish();
    const node = new Uint8Array(WORD_BYTES);
    suite.hashPairsInto(pair, 1, node);
    return {
      rootPage: putDraft(context, root, this.stored.rootAt(top)),
      subRoot: foldLeftSpine(suite, empty.zeros, node, rootHeight(nextFreeNode)),
    };
  }

  private wait(page: PageDraft, level: number): void {
    this.waiting[level] ??= [];
    const pages = this.waiting[level];
    pages.push(page);
    if (pages.length === this.atOnce) this.seal(level);
  }

  private seal(level: number): void {
    const pages = this.waiting[level] ?? [];
    this.waiting[level] = [];
    if (level === 0) hashLeaves(this.context, pages as LeafPageDraft[]);
    for (const parent of sealLevel(this.context, this.stored, pages, level, this.positions))
      this.wait(parent, level + 1);
  }
}

/** @param before - the page that it replaces; 0: none. @returns the new page's number */
function putDraft({pages}: TreeContext, draft: PageDraft, before: number): number {
  const parts = draft instanceof InnerPageDraft ? draft.parts : undefined;
  return pages.putPage(spare => draft.encode(spare), {page: before, parts});
}

function hashLeaves({suite}: TreeContext, drafts: readonly LeafPageDraft[]): void {
  const {leafOpeningBytes} = suite;
  const atOnce = Math.min(LEAVES_AT_ONCE, drafts.length * SMALL_TREE);
  const openings = new Uint8Array(atOnce * leafOpeningBytes);
  const hashes = new Uint8Array(atOnce * WORD_BYTES);
  const targets: {draft: LeafPageDraft; position: number}[] = [];
  const finish = (): void => {
    suite.hashLeavesInto(openings, targets.length, hashes);
    for (const [i, {draft, position}] of targets.entries())
      draft.nodes.set(hashes.subarray(i * WORD_BYTES, (i + 1) * WORD_BYTES), draft.at(0, position));
    targets.length = 0;
  };
  for (const draft of drafts)
    for (let position = 0; position < draft.occupied; position++) {
      if (((draft.dirty >> position) & 1) === 0) continue;
      const leaf = draft.leafAt(position);
      if (leaf === undefined) {
        draft.nodes.set(ZERO_WORD, draft.at(0, position));
        continue;
      }
      const at = targets.length * leafOpeningBytes;
      suite.encodeLeafOpeningInto(openings, at, leaf.prev, leaf.next, leaf.hKey, leaf.hVal);
      targets.push({draft, position});
      if (targets.length === atOnce) finish();
    }
  finish();
}

/** @param drafts - pages of one level. Only the root page of a small tree has another number of rows */
function hashRows({empty, pairs}: TreeContext, drafts: readonly PageDraft[], level: number): void {
  for (let row = 1; row < (drafts[0]?.rows ?? 0); row++) {
    const zero = empty.zeros[lowestHeight(level) + row - 1] as Uint8Array;
    for (const draft of drafts) draft.hashRow(row, zero, pairs);
    pairs.finish();
  }
}

/** The two nodes under a page's root, into `out`. */
function hashPair(
  {empty, pairs}: TreeContext,
  draft: PageDraft,
  level: number,
  out: Uint8Array,
  outAt: number,
): void {
  const height = lowestHeight(level) + draft.rows;
  const zero = empty.zeros[height - 1] as Uint8Array;
  draft.hashPair(zero, empty.zeros[height] as Uint8Array, pairs, out, outAt);
}

function sealLevel(
  context: TreeContext,
  stored: StoredPages,
  drafts: readonly PageDraft[],
  level: number,
  positions: number,
): InnerPageDraft[] {
  const parents: InnerPageDraft[] = [];
  const parentOf = drafts.map(draft => {
    const parentIndex = Math.floor(draft.pageIndex / CHILDREN);
    if (parents.at(-1)?.pageIndex !== parentIndex) {
      const children = occupied(level + 1, parentIndex, positions);
      parents.push(new InnerPageDraft(parentIndex, level + 1, children, stored.find(level + 1, parentIndex)));
    }
    const parent = parents.at(-1) as InnerPageDraft;
    draft.needsBoth = parent.isNew;
    return parent;
  });
  hashRows(context, drafts, level);
  for (const [i, draft] of drafts.entries()) {
    const parent = parentOf[i] as InnerPageDraft;
    const position = draft.pageIndex % CHILDREN;
    parent.setChild(position, putDraft(context, draft, parent.child(position)), draft.halves);
    hashPair(context, draft, level, parent.nodes, parent.at(0, 2 * position));
  }
  context.pairs.finish();
  return parents;
}

/** The pages of a sealed version. Inner pages are kept: the pages that a block changes have most of them in common. */
export class StoredPages {
  private readonly inner = new Map<number, StoredPage>();

  constructor(
    private readonly pages: PageReader,
    private readonly tree: TreeRoot,
  ) {}

  /** @returns 0 if the root page of that version is at another level, or there is none */
  rootAt(level: number): number {
    const {rootPage, nextFreeNode} = this.tree;
    return rootLevel(nextFreeNode) === level ? rootPage : 0;
  }

  /** @returns undefined if that version does not have the page */
  find(level: number, pageIndex: number): Buffer | undefined {
    const {rootPage, nextFreeNode} = this.tree;
    const isStored =
      rootPage !== 0 &&
      level <= rootLevel(nextFreeNode) &&
      pageIndex * (POSITIONS_PER_PAGE[level] as number) < nextFreeNode;
    if (!isStored) return undefined;
    if (level > 0) return this.innerPage(level, pageIndex).body;
    const page = this.pageAt(0, pageIndex);
    return expectLeafPage(this.pages.read(page), nextFreeNode, page);
  }

  private innerPage(level: number, pageIndex: number): StoredPage {
    const name = pageIndex * POSITIONS_PER_PAGE.length + level;
    const known = this.inner.get(name);
    if (known !== undefined) return known;
    const page = this.pageAt(level, pageIndex);
    const read = {page, body: expectInner(this.pages.read(page), level, page)};
    this.inner.set(name, read);
    return read;
  }

  private pageAt(level: number, pageIndex: number): number {
    const {rootPage, nextFreeNode} = this.tree;
    if (level === rootLevel(nextFreeNode)) return rootPage;
    const {page, body} = this.innerPage(level + 1, Math.floor(pageIndex / CHILDREN));
    return childOf(page, body, pageIndex % CHILDREN);
  }
}

interface StoredPage {
  readonly page: number;
  readonly body: Buffer;
}
