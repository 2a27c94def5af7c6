/**
 * The pages of one block's trees and state trie, and those of them that a younger block does not reach.
 *
 *   old    a ── b ── c            a', c' replace a, c: both trees have b, so all below it is skipped
 *   young  a'── b ── c'           gives: pages below c alone, c, a
 *
 * Each page belongs to one place in one tree, and a page that left a tree never returns. So both versions are walked at
 * the same time, and only where their page numbers differ: the cost depends on what changed. Children come before their
 * parents. If the pages are removed in this order and the removal stops anywhere, a second walk finds every page that
 * is still there.
 *
 * A page that is stored as a difference needs its base (page/pageDifference.ts). The bases of a page are older versions
 * of it at the same place, so they go with the last page there that needs them: just before it.
 */
import type {BlockRecord} from "../block/blockRecord.ts";
import type {Pages} from "../cache/pages.ts";
import {StoreError} from "../errors.ts";
import {rootLevel} from "../page/geometry.ts";
import {DIRECTORY, DIRECTORY_CHILDREN, directoryChild, nibbleAt} from "../page/indexPage.ts";
import {childCount, childPage} from "../page/innerPage.ts";
import {leafAt, leafCount, SMALL_TREE_PAGE} from "../page/leafPage.ts";
import {storageTreeOf} from "../tree/account.ts";
import {readLeafPage} from "../tree/treeReader.ts";
import type {TreeRoot} from "../tree/treeRoot.ts";
import type {TrieKind} from "../trie/trie.ts";
import {decodeTrieAccount} from "../trie/trieAccount.ts";
import {readTriePage, TRIE_ROOT, type TriePlace} from "../trie/triePage.ts";

/** Page numbers, and `undefined` after each page that was read. */
export type PageWalk = Generator<number | undefined, undefined>;

const NO_PAGE = 0;

export class ReplacedPages {
  private isWhole = false;
  private youngAccounts: TreeRoot | undefined;

  /** @param since - lower page numbers are left out; pages have lower numbers than their parents */
  constructor(
    private readonly pages: Pages,
    private readonly since: number,
  ) {}

  /**
   * @param old - its pages may be gone, if those below them are too
   * @param young - undefined: gives all pages of `old`, which must be there. Leaf pages of storage trees are not read
   *   then
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  *walk(old: BlockRecord, young: BlockRecord | undefined): PageWalk {
    this.isWhole = young === undefined;
    this.youngAccounts = young?.accounts;
    if (old.trie !== undefined)
      yield* this.walkTrie({...TRIE_ROOT, page: old.trie.page}, rootOf(young?.trie), "accounts");
    yield* this.walkTree(old.accounts, young?.accounts, true);
    return undefined;
  }

  /** @param cover - the lowest page of the young trie that is at the old one's place, or above it */
  private *walkTrie(old: TriePlace, cover: TriePlace | undefined, kind: TrieKind): PageWalk {
    const young = cover?.depth === old.depth ? cover.page : NO_PAGE;
    const body = yield* this.readReplaced(old.page, young);
    if (body === undefined) return undefined;
    yield undefined;
    const {children, leaves} = readTriePage(old.page, body, old.path);
    for (const child of children) yield* this.walkTrie(child, this.cover(cover, child), kind);
    if (kind === "accounts")
      for (const {path, value} of leaves) {
        const {page} = decodeTrieAccount(value).storage;
        if (page === NO_PAGE || page < this.since) continue;
        const storage = this.findStorage(cover, path);
        if (page !== storage?.page) yield* this.walkTrie({...TRIE_ROOT, page}, storage, "slots");
      }
    yield* this.leave(old.page, young);
    return undefined;
  }

  /** @returns the lowest page from `cover` on that is at a place or above it */
  private cover(cover: TriePlace | undefined, place: TriePlace): TriePlace | undefined {
    let lowest = cover;
    while (lowest !== undefined && lowest.depth < place.depth) {
      const {children} = readTriePage(lowest.page, this.pages.read(lowest.page), lowest.path);
      const next = children.find(child => isAbove(child, place));
      if (next === undefined) break;
      lowest = next;
    }
    return lowest;
  }

  private findStorage(cover: TriePlace | undefined, path: Buffer): TriePlace | undefined {
    const above = this.cover(cover, {page: NO_PAGE, path, depth: 2 * path.length});
    if (above === undefined) return undefined;
    const {leaves} = readTriePage(above.page, this.pages.read(above.page), above.path);
    const leaf = leaves.find(one => one.path.equals(path));
    return leaf && rootOf(decodeTrieAccount(leaf.value).storage);
  }

  /** The bases of a page and the page, but for those that are bases of the young one at the same place. */
  private *leave(old: number, young: number): PageWalk {
    const kept = young === NO_PAGE ? [] : this.basesOf(young);
    for (const page of [...this.basesOf(old), old])
      if (page >= this.since && !kept.includes(page)) yield page;
    return undefined;
  }

  /** The pages that a page is a difference to, the oldest first. */
  private basesOf(page: number): number[] {
    const {base} = this.pages.open(page);
    return base === NO_PAGE ? [] : [...this.basesOf(base), base];
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
    const body = yield* this.readReplaced(old, young);
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
        const youngPage = this.youngLeafPage(body, youngBody, position);
        yield* this.walkTree(tree, youngPage && storageTreeOf(leafAt(youngPage, position)), false);
      }
    yield* this.leave(old, young);
    return undefined;
  }

  /** Where a small account tree has grown, its leaves are in several pages. */
  private youngLeafPage(old: Buffer, young: Buffer | undefined, position: number): Buffer | undefined {
    const accounts = this.youngAccounts;
    const hasSplit = young !== undefined && old[0] === SMALL_TREE_PAGE && young[0] !== SMALL_TREE_PAGE;
    return hasSplit && accounts !== undefined ? readLeafPage(this.pages, accounts, position) : young;
  }

  private *walkIndex(old: number, young: number): PageWalk {
    const body = yield* this.readReplaced(old, young);
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
    yield* this.leave(old, young);
    return undefined;
  }

  /** @returns undefined if the page is left out with all below it, or gone. Gives a page that only lacks its base. */
  private *readReplaced(
    old: number,
    young: number,
  ): Generator<number | undefined, Buffer | undefined, undefined> {
    if (old === young || old < this.since) return undefined;
    try {
      return this.pages.read(old);
    } catch (error) {
      if (this.isWhole || !(error instanceof StoreError && error.code === "RECORD_MISSING")) throw error;
    }
    if (this.pages.has(old)) yield old;
    return undefined;
  }
}

function rootOf(trie: {readonly page: number} | undefined): TriePlace | undefined {
  return trie === undefined || trie.page === NO_PAGE ? undefined : {...TRIE_ROOT, page: trie.page};
}

function isAbove({path, depth}: TriePlace, place: TriePlace): boolean {
  const bytes = depth >> 1;
  const isSame = path.compare(place.path, 0, bytes, 0, bytes) === 0;
  return (
    depth <= place.depth &&
    isSame &&
    (depth % 2 === 0 || nibbleAt(path, depth - 1) === nibbleAt(place.path, depth - 1))
  );
}
