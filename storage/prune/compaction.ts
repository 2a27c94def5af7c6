/**
 * Frees the disk space of removed pages.
 *
 * LevelDB drops what was removed when it merges tables, as new ones come. Pages get ever higher numbers, so tables of
 * old pages would be merged late. When removed pages take a quarter of the space, their range is compacted slice by
 * slice, in LevelDB's own thread, about a second each.
 */
import type {Level} from "level";
import {damaged} from "../leveldb/levelErrors.ts";
import {pageKey} from "../record/layout.ts";

/** Fewer removed pages (some 5 MB) are not worth a compaction. */
const MIN_PAGES = 1 << 14;
/** Bytes of an average page, a low estimate. */
const PAGE_BYTES = 256;
/** The part of the space of all pages: each removed byte costs 4 written ones. */
const DUE_PART = 1 / 4;
const SLICE_PAGES = 1 << 18;

/** Methods that the types of `level` do not have, because browsers cannot do them. */
interface Compactable {
  compactRange(start: Buffer, end: Buffer): Promise<void>;
  /** Bytes in tables. */
  approximateSize(start: Buffer, end: Buffer): Promise<number>;
}

export class Compaction {
  private readonly db: Compactable;
  private removed = 0;
  private low = Number.POSITIVE_INFINITY;
  private high = 0;

  constructor(db: Level<Buffer, Buffer>) {
    this.db = db as Level<Buffer, Buffer> & Compactable;
  }

  note(pages: Float64Array): void {
    this.removed += pages.length;
    for (const page of pages) {
      if (page < this.low) this.low = page;
      if (page > this.high) this.high = page;
    }
  }

  /** @param signal - ends it after the current slice. @throws StoreError STORE_DAMAGED, STORE_UNREADABLE */
  async runIfDue(signal: AbortSignal): Promise<void> {
    const {removed, low, high} = this;
    if (removed < MIN_PAGES) return;
    try {
      const bytes = await this.db.approximateSize(pageKey(low), pageKey(high + 1));
      if (removed * PAGE_BYTES < bytes * DUE_PART) return;
      this.removed = 0;
      this.low = Number.POSITIVE_INFINITY;
      this.high = 0;
      for (let from = low; from <= high && !signal.aborted; from += SLICE_PAGES)
        await this.db.compactRange(pageKey(from), pageKey(Math.min(from + SLICE_PAGES, high + 1)));
    } catch (error) {
      throw damaged("compacting the pages", error);
    }
  }
}
