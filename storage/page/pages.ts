/**
 * Reads pages by number, checks them, and keeps some in a cache of limited size.
 *
 *   inner pages, directories    many paths share them               kept when they are read
 *   leaf pages, buckets         each serves a few keys              kept when they are asked for again soon
 *   pages of tries              with a version for many blocks      kept when they are asked for again soon
 *
 * Reading a page takes up to half of a proof's time (docs/decisions.md). If all leaf pages were kept, they would push each
 * other out before they are asked for again, and the heap would grow. But those of a token or of a relayer's contract are
 * asked for all the time.
 */
import {StoreError} from "../errors.ts";
import {damaged} from "../files/levelErrors.ts";
import type {RecordSource} from "../files/recordSource.ts";
import {PAGE_KEY_BYTES, writePageKeyInto} from "../record/layout.ts";
import {openRecord} from "../record/record.ts";
import {DIRECTORY} from "./indexPage.ts";
import {INNER_PAGE} from "./innerPage.ts";
import {type OpenPage, openRecordedPage, type ReplacedPage} from "./pageDifference.ts";

/** Leaf pages and buckets get 1/WANTED_PART of the cache's bytes. */
const WANTED_PART = 4;
/** Places that remember one requested page each, at the page's number modulo this: 128 KB. */
const ASKED_PAGES = 1 << 14;

/** Of a page of a trie (trie/triePage.ts) without nibbles before its branch. */
const TRIE_CHILDREN_AT = 3;
const TRIE_CHILD_PAGE = 0x80;
export const TRIE_PAGE = 0x54;

/** Reads one page's body (without its checksum). @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export interface PageReader {
  read(page: number): Buffer;
}

/** A PageReader that also takes new pages, and can read them before they are written. */
export interface PageWriter extends PageReader {
  /**
   * @param encode - returns the page with `spare` free bytes at its end
   * @param before - the page whose place it takes
   * @returns the page's number
   */
  putPage(encode: (spare: number) => Buffer, before?: ReplacedPage): number;
}

interface PageReads {
  /** That a kept page answered. */
  readonly cachedPages: number;
  /** That went to the store. */
  readonly storedPages: number;
}

export class Pages implements PageReader {
  /** Inner pages and directories. */
  private readonly shared: PageCache;
  /** Leaf pages and buckets that were asked for twice within a short time. */
  private readonly wanted: PageCache;
  private readonly asked = new Float64Array(ASKED_PAGES);
  /** The last page that was read but not kept: an absent key's neighbour is first looked at, then proved. */
  private lastPage = 0;
  private last: OpenPage = {body: Buffer.alloc(0), base: 0, isAnchor: false};
  private readonly key = Buffer.allocUnsafe(PAGE_KEY_BYTES);
  private cachedReads = 0;
  private storedReads = 0;

  constructor(
    private readonly source: RecordSource,
    cacheBytes: number,
  ) {
    this.wanted = new PageCache(cacheBytes / WANTED_PART);
    this.shared = new PageCache(cacheBytes - cacheBytes / WANTED_PART);
  }

  read(page: number): Buffer {
    return this.open(page).body;
  }

  /** As `read`, with the form of its record. */
  readonly open = (page: number): OpenPage => {
    const cached =
      this.shared.get(page) ?? this.wanted.get(page) ?? (page === this.lastPage ? this.last : undefined);
    if (cached !== undefined) {
      this.cachedReads++;
      return cached;
    }
    this.storedReads++;
    const opened = openRecordedPage(page, this.readPageRecord(page), this.open);
    // Readers need no base once the page is made.
    const cache = isShared(opened.body) ? this.shared : this.wanted;
    const isWanted = (cache === this.shared && opened.body[0] !== TRIE_PAGE) || this.wasAsked(page);
    if (isWanted) cache.keep(page, alone(opened));
    this.lastPage = page;
    this.last = opened;
    return opened;
  };

  /** Is the page's record there? Its base may be gone. @throws StoreError RECORD_DAMAGED */
  has(page: number): boolean {
    return this.findRecord(page) !== undefined;
  }

  /** Reads since they were last taken. */
  get reads(): number {
    return this.cachedReads + this.storedReads;
  }

  /** Counts the reads since the last call. */
  takeReads(): PageReads {
    const reads = {cachedPages: this.cachedReads, storedPages: this.storedReads};
    this.cachedReads = 0;
    this.storedReads = 0;
    return reads;
  }

  /** As if they had come since the last call. */
  addReads({cachedPages, storedPages}: PageReads): void {
    this.cachedReads += cachedPages;
    this.storedReads += storedPages;
  }

  /** Caches a page that was just written, if many paths share it, or if the next one may be a difference to it. */
  keep(page: number, opened: OpenPage): void {
    if (isShared(opened.body)) this.shared.keep(page, opened);
    else if (opened.body[0] === TRIE_PAGE) this.wanted.keep(page, opened);
  }

  /** Drops a page from the cache: another one has its place in the newest version of the tree. */
  forget(page: number): void {
    this.shared.forget(page);
    this.wanted.forget(page);
  }

  private readPageRecord(page: number): Buffer {
    const record = this.findRecord(page);
    if (record === undefined) throw new StoreError("RECORD_MISSING", `page ${page} is not in the store`);
    return record;
  }

  private findRecord(page: number): Buffer | undefined {
    writePageKeyInto(this.key, page);
    let value: Buffer | undefined;
    try {
      value = this.source.getSync(this.key);
    } catch (error) {
      throw damaged(`page ${page}`, error);
    }
    return value === undefined ? undefined : openRecord(this.key, value);
  }

  /** Notes that `page` is asked for. @returns whether it was also asked for a short time ago */
  private wasAsked(page: number): boolean {
    const place = page % ASKED_PAGES;
    const was = this.asked[place] === page;
    this.asked[place] = page;
    return was;
  }
}

function isShared(body: Buffer): boolean {
  return body[0] === INNER_PAGE || body[0] === DIRECTORY || isUpperTriePage(body);
}

/** Without its base, and without the memory of its neighbours: one kept page of the shared slab would hold 8 KB. */
function alone({body, base, isAnchor}: OpenPage): OpenPage {
  if (body.buffer.byteLength <= 2 * body.length) return {body, base, isAnchor};
  const own = Buffer.allocUnsafeSlow(body.length);
  own.set(body);
  return {body: own, base, isAnchor};
}

/** A page of a trie (trie/triePage.ts) whose first child is a page too: so are most of its children. */
function isUpperTriePage(body: Buffer): boolean {
  return body[0] === TRIE_PAGE && body[TRIE_CHILDREN_AT] > TRIE_CHILD_PAGE && body[1] === body[2];
}

/** @throws StoreError RECORD_DAMAGED if `body` is not of the kind that the pointer to it expects */
export function expectKind(body: Buffer, kind: number, page: number): Buffer {
  if (body[0] !== kind)
    throw new StoreError("RECORD_DAMAGED", `page ${page}: expected kind ${kind}, got ${body[0]}`);
  return body;
}

/** What a cached page costs in addition to its bytes: the Buffer object and the map entry. */
const PAGE_OVERHEAD_BYTES = 200;

function bytesOf({body, based}: OpenPage): number {
  return body.length + PAGE_OVERHEAD_BYTES + (based === undefined ? 0 : bytesOf(based));
}

/**
 * A cache of pages by number, limited in bytes, with two generations. When the young generation is full it becomes the old
 * one. Old pages survive if they are asked for again. Pages never change once written, so they never become invalid.
 */
class PageCache {
  private young = new Map<number, OpenPage>();
  private old = new Map<number, OpenPage>();
  private youngBytes = 0;
  private readonly generationBytes: number;

  constructor(bytes: number) {
    this.generationBytes = bytes / 2;
  }

  get(page: number): OpenPage | undefined {
    const cached = this.young.get(page);
    if (cached !== undefined) return cached;
    const kept = this.old.get(page);
    if (kept !== undefined) this.keep(page, kept);
    return kept;
  }

  forget(page: number): void {
    const young = this.young.get(page);
    if (young !== undefined) this.youngBytes -= bytesOf(young);
    this.young.delete(page);
    this.old.delete(page);
  }

  keep(page: number, opened: OpenPage): void {
    this.young.set(page, opened);
    this.youngBytes += bytesOf(opened);
    if (this.youngBytes > this.generationBytes) {
      this.old = this.young;
      this.young = new Map();
      this.youngBytes = 0;
    }
  }
}
