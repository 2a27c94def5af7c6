/**
 * Reads pages by number, checks them, and keeps some in a cache of limited size.
 *
 *   inner pages, directories    many paths share them               kept when they are read
 *   leaf pages, buckets         each serves a few keys              kept when they are asked for again soon
 *   pages of tries              with a version for many blocks      kept when they are asked for again soon; upper ones that are a
 *                                                                   base of others, when they are read
 *
 * Reading a page takes up to half of a proof's time (docs/decisions.md). If all leaf pages were kept, they would push each
 * other out before they are asked for again, and the heap would grow. But those of a token or of a relayer's contract are
 * asked for all the time.
 */
import {StoreError} from "../errors.ts";
import {damaged} from "../leveldb/levelErrors.ts";
import type {RecordSource} from "../leveldb/recordSource.ts";
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
  private lastPage = -1;
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
  readonly open = (page: number): OpenPage => this.find(page, false);
  private readonly openBase = (page: number): OpenPage => this.find(page, true);

  private find(page: number, isBase: boolean): OpenPage {
    const cached =
      this.shared.get(page) ?? this.wanted.get(page) ?? (page === this.lastPage ? this.last : undefined);
    if (cached !== undefined) {
      this.cachedReads++;
      return cached;
    }
    this.storedReads++;
    const opened = openRecordedPage(page, this.readPageRecord(page), this.openBase);
    // Readers need no base once the page is made.
    const cache = isShared(opened.body) ? this.shared : this.wanted;
    const isWanted = cache === this.shared && (isBase || opened.body[0] !== TRIE_PAGE);
    if (isWanted || this.wasAsked(page)) cache.keep(page, alone(opened));
    this.lastPage = page;
    this.last = opened;
    return opened;
  }

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
  return body[0] === TRIE_PAGE && (body[TRIE_CHILDREN_AT] as number) > TRIE_CHILD_PAGE && body[1] === body[2];
}

/** @throws StoreError RECORD_DAMAGED if `body` is not of the kind that the pointer to it expects */
export function expectKind(body: Buffer, kind: number, page: number): Buffer {
  if (body[0] !== kind)
    throw new StoreError("RECORD_DAMAGED", `page ${page}: expected kind ${kind}, got ${body[0]}`);
  return body;
}

/** What a cached page costs in addition to its bytes: the Buffer object and its slot. */
const PAGE_OVERHEAD_BYTES = 200;

function bytesOf({body, based}: OpenPage): number {
  return body.length + PAGE_OVERHEAD_BYTES + (based === undefined ? 0 : bytesOf(based));
}

/** Slots for a page: their numbers share a line of the processor's cache. */
const WAYS = 8;
const FIRST_SLOTS = 64 * WAYS;

/**
 * A cache of pages by number, limited in bytes. Pages never change once written, so they never become invalid.
 *
 *   slot   page's number f64 | page | its bytes u32 | was it asked for since the hand passed u8      WAYS slots for numbers that are alike modulo their sets
 *
 * When the bytes are used up, a hand goes round the slots, and drops pages that were not asked for since it passed or since they came.
 * A miss, which old blocks have most, looks at one line of memory: maps of two generations took a tenth of such a path.
 */
class PageCache {
  /** 0: the slot is free. */
  private numbers = new Float64Array(FIRST_SLOTS);
  private pages = new Array<OpenPage | undefined>(FIRST_SLOTS).fill(undefined);
  private wasAsked = new Uint8Array(FIRST_SLOTS);
  private sizes = new Uint32Array(FIRST_SLOTS);
  private bytes = 0;
  private count = 0;
  private hand = 0;

  constructor(private readonly mostBytes: number) {}

  get(page: number): OpenPage | undefined {
    const at = this.slotOf(page, page);
    if (at < 0) return undefined;
    this.wasAsked[at] = 1;
    return this.pages[at];
  }

  forget(page: number): void {
    const at = this.slotOf(page, page);
    if (at >= 0) this.drop(at);
  }

  keep(page: number, opened: OpenPage): void {
    this.forget(page);
    let at = this.slotOf(page, 0);
    if (at < 0 && 2 * this.count > this.numbers.length) {
      this.grow();
      at = this.slotOf(page, 0);
    }
    if (at < 0) {
      const first = this.firstSlot(page);
      at = first + Math.max(0, this.wasAsked.subarray(first, first + WAYS).indexOf(0));
      this.drop(at);
    }
    this.put(at, page, opened);
    while (this.bytes > this.mostBytes) {
      this.hand = (this.hand + 1) % this.numbers.length;
      if (this.wasAsked[this.hand] === 1) this.wasAsked[this.hand] = 0;
      else if (this.numbers[this.hand] !== 0) this.drop(this.hand);
    }
  }

  private firstSlot(page: number): number {
    return (page * WAYS) & (this.numbers.length - 1);
  }

  /** @param number - `page`, or 0. @returns its slot among those of `page`; -1: there is none */
  private slotOf(page: number, number: number): number {
    const {numbers} = this;
    const first = this.firstSlot(page);
    for (let at = first; at < first + WAYS; at++) if (numbers[at] === number) return at;
    return -1;
  }

  private put(at: number, page: number, opened: OpenPage): void {
    this.numbers[at] = page;
    this.pages[at] = opened;
    this.wasAsked[at] = 0;
    this.sizes[at] = bytesOf(opened);
    this.bytes += this.sizes[at];
    this.count++;
  }

  private drop(at: number): void {
    this.bytes -= this.sizes[at] as number;
    this.count--;
    this.numbers[at] = 0;
    this.pages[at] = undefined;
    this.wasAsked[at] = 0;
  }

  /** Twice the slots. The pages of each set go to two. */
  private grow(): void {
    const {numbers, pages} = this;
    this.numbers = new Float64Array(2 * numbers.length);
    this.pages = new Array<OpenPage | undefined>(2 * numbers.length).fill(undefined);
    this.wasAsked = new Uint8Array(2 * numbers.length);
    this.sizes = new Uint32Array(2 * numbers.length);
    this.bytes = 0;
    this.count = 0;
    for (const [at, page] of numbers.entries())
      if (page !== 0) this.put(this.slotOf(page, 0), page, pages[at] as OpenPage);
  }
}
