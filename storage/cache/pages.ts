/**
 * Reads pages by number, verifies their checksums, and caches some of them in a limited amount of memory.
 *
 *   directories                 shared by many paths               cached at the first read
 *   leaf pages, buckets         each serves a few keys             cached at the second read within a short time
 *   inner pages, pages of tries with a version in many blocks      the same; upper ones that are the base of another page,
 *                                                                  at the first read
 *
 * Of inner pages above level 1, the records are cached, not the pages made of them: a difference takes a third of the
 * memory, and old blocks have many.
 *
 * Reading a page takes up to half of a proof's time (docs/decisions.md). If all leaf pages were cached, they would
 * evict each other before they are requested again, and the heap would grow. But the leaf pages of a token or of a
 * relayer's contract are requested all the time.
 */
import {StoreError} from "../errors.ts";
import type {HashSuite} from "../hash/suite.ts";
import {damaged} from "../leveldb/levelErrors.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";
import {DIRECTORY} from "../page/indexPage.ts";
import {hasAllRows, INNER_PAGE, storedPart, withAllRows} from "../page/innerPage.ts";
import {isDifference, type OpenPage, openRecordedPage} from "../page/pageDifference.ts";
import {nameOfKey, nodeKey, PAGE_KEY_BYTES, writePageKeyInto} from "../record/layout.ts";
import {openRecord} from "../record/record.ts";
import {emptyTree} from "../tree/emptyTree.ts";
import {isTriePage, isUpperTriePage} from "../trie/triePage.ts";
import type {TriePages} from "../trie/trieStore.ts";
import {PageCache} from "./pageCache.ts";

/** Pages that few paths share get 1/REPEATED_PART of the cache's bytes. */
const REPEATED_PART = 4;
/** Requested pages that are remembered, each at its number modulo this: 1 MB. */
const REQUESTED_PAGES = 1 << 17;

interface PageReads {
  readonly cachedPages: number;
  readonly storedPages: number;
}

export class Pages implements TriePages {
  private readonly shared: PageCache;
  /** Other pages that were requested twice within a short time, or written to a trie. */
  private readonly repeated: PageCache;
  private readonly requested = new Float64Array(REQUESTED_PAGES);
  /** The last page that was read but not cached: an absent key's neighbour is first looked up, then proved. */
  private lastPage = -1;
  private last: OpenPage = {body: Buffer.alloc(0), base: 0, isAnchor: false};
  private readonly key = Buffer.allocUnsafe(PAGE_KEY_BYTES);
  /** The highest number of a page that this process has written. */
  writtenTo = 0;
  /** Bases do not count: an answer that ends after so many pages must not depend on what is cached. */
  private cachedReads = 0;
  private storedReads = 0;

  /** @param suite - of the sparse trees; undefined: the store has none */
  constructor(
    private readonly source: RecordSource,
    cacheBytes: number,
    private readonly suite: HashSuite | undefined,
  ) {
    this.repeated = new PageCache(cacheBytes / REPEATED_PART);
    this.shared = new PageCache(cacheBytes - cacheBytes / REPEATED_PART);
  }

  /** An inner page has all rows once it is cached, above level 1 once it is read often. */
  read(page: number): Buffer {
    const {storedReads} = this;
    const {body, base, isAnchor} = this.find(page, false, this.spendBase);
    if (body[0] !== INNER_PAGE || storedReads !== this.storedReads || this.suite === undefined) return body;
    if (hasAllRows(body) || (hasKeptBases(body) && !this.shared.isFrequent(page))) return body;
    const all = withAllRows(body, this.suite, emptyTree(this.suite).zeros);
    this.shared.keep(page, {body: all, base, isAnchor});
    return all;
  }

  /** As it is stored. */
  readonly open = (page: number): OpenPage => asStored(this.find(page, false, this.openBase));
  private readonly openBase = (page: number): OpenPage => asStored(this.find(page, true, this.openBase));
  /** For a reader, who needs no base once the page is made. */
  private readonly spendBase = (page: number): OpenPage => asStored(this.find(page, true, this.spendBase));

  private find(page: number, isBase: boolean, openBase: (page: number) => OpenPage): OpenPage {
    const cached =
      this.shared.get(page) ??
      this.repeated.get(page) ??
      (page === this.lastPage && !isBase ? this.last : undefined);
    if (cached !== undefined) {
      if (!isBase) this.cachedReads++;
      if (!isDifference(cached.body)) return cached;
      return openRecordedPage(page, cached.body, openBase, openBase === this.spendBase);
    }
    if (!isBase) this.storedReads++;
    const record = this.readPageRecord(page);
    const opened = openRecordedPage(page, record, openBase, openBase === this.spendBase);
    const {body} = opened;
    if (this.isToKeep(page, body, isBase))
      (isShared(body) ? this.shared : this.repeated).keep(
        page,
        hasKeptBases(body) ? {body: record, base: 0, isAnchor: false} : alone(opened),
      );
    if (!isBase) {
      this.lastPage = page;
      this.last = opened;
    }
    return opened;
  }

  /** @throws StoreError RECORD_DAMAGED */
  findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.readRecord(nodeKey(hash));
  }

  /** Does the store have the page's record? Its base may be gone. @throws StoreError RECORD_DAMAGED */
  has(page: number): boolean {
    return this.findRecord(page) !== undefined;
  }

  get reads(): number {
    return this.cachedReads + this.storedReads;
  }

  takeReads(): PageReads {
    const reads = {cachedPages: this.cachedReads, storedPages: this.storedReads};
    this.cachedReads = 0;
    this.storedReads = 0;
    return reads;
  }

  addReads({cachedPages, storedPages}: PageReads): void {
    this.cachedReads += cachedPages;
    this.storedReads += storedPages;
  }

  /** Caches a page that was just written, if many paths share it, or if its next version may be a difference to it. */
  keep(page: number, opened: OpenPage): void {
    if (isShared(opened.body)) this.shared.keep(page, opened);
    else if (isTriePage(opened.body)) this.repeated.keep(page, opened);
  }

  /** Evicts a page that another one replaces in the newest version of the tree. */
  forget(page: number): void {
    this.shared.forget(page);
    this.repeated.forget(page);
  }

  private readPageRecord(page: number): Buffer {
    const record = this.findRecord(page);
    if (record === undefined) throw new StoreError("RECORD_MISSING", `page ${page} is not in the store`);
    return record;
  }

  private findRecord(page: number): Buffer | undefined {
    writePageKeyInto(this.key, page);
    return this.readRecord(this.key);
  }

  /** Of a page or of anything else. @throws StoreError RECORD_DAMAGED, STORE_DAMAGED */
  readRecord(key: Buffer): Buffer | undefined {
    const value = this.readValue(key);
    return value === undefined ? undefined : openRecord(key, value);
  }

  /** A record with its checksum, which is not verified. @throws StoreError STORE_DAMAGED */
  readValue(key: Buffer): Buffer | undefined {
    try {
      return this.source.getSync(key);
    } catch (error) {
      throw damaged(nameOfKey(key), error);
    }
  }

  private isToKeep(page: number, body: Buffer, isBase: boolean): boolean {
    if (body[0] === INNER_PAGE && isBase) return hasKeptBases(body);
    return body[0] === DIRECTORY || (isBase && isUpperTriePage(body)) || this.isRepeated(page);
  }

  private isRepeated(page: number): boolean {
    const slot = page % REQUESTED_PAGES;
    const was = this.requested[slot] === page;
    this.requested[slot] = page;
    return was;
  }
}

function isShared(body: Buffer): boolean {
  return body[0] === INNER_PAGE || body[0] === DIRECTORY || isUpperTriePage(body);
}

function asStored(opened: OpenPage): OpenPage {
  const {body, base, isAnchor} = opened;
  return body[0] === INNER_PAGE && hasAllRows(body) ? {body: storedPart(body), base, isAnchor} : opened;
}

/** Versions of a page share its base. Those at level 1 are so many that they would evict each other. */
function hasKeptBases(body: Buffer): boolean {
  return body[0] === INNER_PAGE && body[1] !== 1;
}

/** Without its base, and in memory of its own: one cached page of Node's shared slab would retain all 8 KB of it. */
function alone({body, base, isAnchor, isOwn}: OpenPage): OpenPage {
  if (isOwn !== true && body.buffer.byteLength <= 2 * body.length) return {body, base, isAnchor};
  const own = Buffer.allocUnsafeSlow(body.length);
  own.set(body);
  return {body: own, base, isAnchor};
}
