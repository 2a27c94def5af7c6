/**
 * A cache of pages by number, limited in bytes. Written pages never change, so no entry is ever invalid.
 *
 *   slot   page number f64 | page | its bytes u32 | requests since the clock hand passed, at most 2, u8
 *
 * The cache is set-associative: a page can be in any of the WAYS slots of its set, and its number modulo the number of
 * sets selects the set. Eviction uses the CLOCK algorithm: when the bytes are used up, the hand advances over the slots
 * and evicts pages that were not requested since it last passed them. A miss reads one cache line of the processor.
 * Reads of old blocks miss most: with two generations of maps, lookups took a tenth of such a path.
 */
import type {OpenPage} from "../page/pageDifference.ts";

const PAGE_OVERHEAD_BYTES = 200; // the Buffer object and its slot

function bytesOf({body, based}: OpenPage): number {
  return body.length + PAGE_OVERHEAD_BYTES + (based === undefined ? 0 : bytesOf(based));
}

/** Slots of a set. Their page numbers share a cache line of the processor. */
const WAYS = 8;
const FIRST_SLOTS = 64 * WAYS;

export class PageCache {
  /** Page numbers by slot. 0: the slot is free. */
  private numbers = new Float64Array(FIRST_SLOTS);
  private pages = new Array<OpenPage | undefined>(FIRST_SLOTS).fill(undefined);
  private requests = new Uint8Array(FIRST_SLOTS);
  private sizes = new Uint32Array(FIRST_SLOTS);
  private bytes = 0;
  private count = 0;
  private hand = 0;

  constructor(private readonly maxBytes: number) {}

  get(page: number): OpenPage | undefined {
    const at = this.slotOf(page, page);
    if (at < 0) return undefined;
    if ((this.requests[at] as number) < 2) this.requests[at] = 1 + (this.requests[at] as number);
    return this.pages[at];
  }

  /** Was the page found here twice since the clock hand passed? */
  isFrequent(page: number): boolean {
    const at = this.slotOf(page, page);
    return at >= 0 && this.requests[at] === 2;
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
      at = first + Math.max(0, this.requests.subarray(first, first + WAYS).indexOf(0));
      this.drop(at);
    }
    this.put(at, page, opened);
    while (this.bytes > this.maxBytes) {
      this.hand = (this.hand + 1) % this.numbers.length;
      if ((this.requests[this.hand] as number) > 0) this.requests[this.hand] = 0;
      else if (this.numbers[this.hand] !== 0) this.drop(this.hand);
    }
  }

  private firstSlot(page: number): number {
    return (page * WAYS) & (this.numbers.length - 1);
  }

  /** @param number - `page`, or 0 to find a free slot. @returns its slot in the set of `page`, or -1 */
  private slotOf(page: number, number: number): number {
    const {numbers} = this;
    const first = this.firstSlot(page);
    for (let at = first; at < first + WAYS; at++) if (numbers[at] === number) return at;
    return -1;
  }

  private put(at: number, page: number, opened: OpenPage): void {
    this.numbers[at] = page;
    this.pages[at] = opened;
    this.requests[at] = 0;
    this.sizes[at] = bytesOf(opened);
    this.bytes += this.sizes[at];
    this.count++;
  }

  private drop(at: number): void {
    this.bytes -= this.sizes[at] as number;
    this.count--;
    this.numbers[at] = 0;
    this.pages[at] = undefined;
    this.requests[at] = 0;
  }

  /** Doubles the slots. Each set is split into two. */
  private grow(): void {
    const {numbers, pages} = this;
    this.numbers = new Float64Array(2 * numbers.length);
    this.pages = new Array<OpenPage | undefined>(2 * numbers.length).fill(undefined);
    this.requests = new Uint8Array(2 * numbers.length);
    this.sizes = new Uint32Array(2 * numbers.length);
    this.bytes = 0;
    this.count = 0;
    for (const [at, page] of numbers.entries())
      if (page !== 0) this.put(this.slotOf(page, 0), page, pages[at] as OpenPage);
  }
}
