/**
 * The pages of one block's trees, and those of them that a younger block does not reach.
 *
 *   old    a ── b ── c            a', c' replace a, c: both trees have b, so all below it is skipped
 *   young  a'── b ── c'           gives: pages below c alone, c, a
 *
 * Each page belongs to one place in one tree, and a page that left a tree never returns. So both versions are walked at the same
 * time, and only where their page numbers differ: the cost depends on what changed. Children come before their parents. If the
 * pages are removed in this order and the removal stops anywhere, a second walk finds every page that is still there.
 */
import type {BlockRecord} from "../block/blockRecord.ts";
import {StoreError} from "../errors.ts";
import {rootLevel} from "../page/geometry.ts";
import {DIRECTORY, DIRECTORY_CHILDREN, directoryChild} from "../page/indexPage.ts";
import {childCount, childPage} from "../page/innerPage.ts";
import {leafAt, leafCount} from "../page/leafPage.ts";
import type {PageReader} from "../page/pages.ts";
import {storageTreeOf} from "../tree/account.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";

/** Page numbers, and `undefined` after each page that was read. */
export type PageWalk = Generator<number | undefined, undefined>;

/** A page number that no page has. */
const NO_PAGE = 0;

export class ReplacedPages {
  private isWhole = false;

  /** @param since - lower page numbers are left out; pages have lower numbers than their parents */
  constructor(
    private readonly pages: PageReader,
    private readonly since: number,
  ) {}

  /**
   * @param old - its pages may be gone, if those below them are too
   * @param young - undefined: gives all pages of `old`, which must be there. Leaf pages of storage trees are not read then
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  walk(old: BlockRecord, young: BlockRecord | undefined): PageWalk {
    this.isWhole = young === undefined;
    return this.walkTree(old.accounts, young?.accounts, true);
  }

  private *walkTree(old: TreeRoot, young: TreeRoot | undefined, isAccounts: boolean): PageWalk {
    if (old.rootPage !== NO_PAGE) {
      const level = rootLevel(old.nextFreeNode);
      yield* this.walkPages(old.rootPage, this.findSpine(young, level), level, isAccounts);
    }
    if (old.indexPage !== NO_PAGE) yield* this.walkIndex(old.indexPage, young?.indexPage ?? NO_PAGE);
    return undefined;
  }

  /** The young tree may have grown: then the old root's place is on its left spine. */
  private findSpine(young: TreeRoot | undefined, level: number): number {
    if (young === undefined || young.rootPage === NO_PAGE) return NO_PAGE;
    let page = young.rootPage;
    for (let at = rootLevel(young.nextFreeNode); at > level; at--) page = childPage(this.pages.read(page), 0);
    return page;
  }

  private *walkPages(old: number, young: number, level: number, isAccounts: boolean): PageWalk {
    if (this.isWhole && level === 0 && !isAccounts) {
      if (old >= this.since) yield old;
      return undefined;
    }
    const body = this.readReplaced(old, young);
    if (body === undefined) return undefined;
    yield undefined;
    const youngBody = young === NO_PAGE ? undefined : this.pages.read(young);
    if (level > 0)
      for (let position = 0; position < childCount(body); position++) {
        const isThere = youngBody !== undefined && position < childCount(youngBody);
        const child = isThere ? childPage(youngBody, position) : NO_PAGE;
        yield* this.walkPages(childPage(body, position), child, level - 1, isAccounts);
      }
    else if (isAccounts)
      for (let position = 0; position < leafCount(body); position++) {
        const tree = storageTreeOf(leafAt(body, position));
        if (tree === undefined) continue;
        // No other account ever gets a leaf's position: this is the same account, or the account was deleted.
        const youngTree = youngBody === undefined ? undefined : storageTreeOf(leafAt(youngBody, position));
        yield* this.walkTree(tree, youngTree, false);
      }
    yield old;
    return undefined;
  }

  private *walkIndex(old: number, young: number): PageWalk {
    const body = this.readReplaced(old, young);
    if (body === undefined) return undefined;
    yield undefined;
    if (body[0] === DIRECTORY) {
      const youngBody = young === NO_PAGE ? undefined : this.pages.read(young);
      const other = youngBody?.[0] === DIRECTORY ? youngBody : undefined;
      for (let nibble = 0; nibble < DIRECTORY_CHILDREN; nibble++) {
        const child = directoryChild(body, nibble);
        if (child !== NO_PAGE)
          yield* this.walkIndex(child, other === undefined ? NO_PAGE : directoryChild(other, nibble));
      }
    }
    yield old;
    return undefined;
  }

  /** @returns undefined if the page is left out, with all below it, or was removed before */
  private readReplaced(old: number, young: number): Buffer | undefined {
    if (old === young || old < this.since) return undefined;
    try {
      return this.pages.read(old);
    } catch (error) {
      if (!this.isWhole && error instanceof StoreError && error.code === "RECORD_MISSING") return undefined;
      throw error;
    }
  }
}
