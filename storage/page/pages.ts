/**
 * Reading pages: by number, checked, with a bounded cache of those that many paths share.
 *
 * Inner pages and directories are cached; leaf pages and buckets are not: each serves a few of many keys, and
 * would push the shared ones out. A page never changes once written, so nothing is ever invalidated.
 */
import type {Level} from "level";
import {StoreError} from "../errors.ts";
import {PAGE_KEY_BYTES, writePageKeyInto} from "../record/layout.ts";
import {damaged} from "../record/levelErrors.ts";
import {openRecord} from "../record/record.ts";
import {DIRECTORY} from "./indexPage.ts";
import {INNER_PAGE} from "./innerPage.ts";

/** What a cached page costs besides its bytes: the Buffer object and the map entry. */
const PAGE_OVERHEAD_BYTES = 200;

/** Reads one page's body (without its checksum). @throws StoreError RECORD_MISSING, RECORD_DAMAGED */
export interface PageReader {
  read(page: number): Buffer;
}

/** Two generations: a full young one becomes the old one, whose pages survive if they are asked for again. */
export class Pages implements PageReader {
  private young = new Map<number, Buffer>();
  private old = new Map<number, Buffer>();
  private youngBytes = 0;
  private readonly key = Buffer.allocUnsafe(PAGE_KEY_BYTES);
  private readonly db: Level<Buffer, Buffer>;
  private readonly generationBytes: number;

  constructor(db: Level<Buffer, Buffer>, cacheBytes: number) {
    this.db = db;
    this.generationBytes = cacheBytes / 2;
  }

  read(page: number): Buffer {
    const cached = this.young.get(page);
    if (cached !== undefined) return cached;
    const kept = this.old.get(page);
    if (kept !== undefined) {
      this.keep(page, kept);
      return kept;
    }
    writePageKeyInto(this.key, page);
    let value: Buffer | undefined;
    try {
      value = this.db.getSync(this.key);
    } catch (error) {
      throw damaged(`page ${page}`, error);
    }
    if (value === undefined) throw new StoreError("RECORD_MISSING", `page ${page} is not in the store`);
    const body = openRecord(this.key, value);
    if (body[0] === INNER_PAGE || body[0] === DIRECTORY) this.keep(page, body);
    return body;
  }

  /** Caches a page that others will ask for. */
  keep(page: number, body: Buffer): void {
    this.young.set(page, body);
    this.youngBytes += body.length + PAGE_OVERHEAD_BYTES;
    if (this.youngBytes > this.generationBytes) {
      this.old = this.young;
      this.young = new Map();
      this.youngBytes = 0;
    }
  }
}

/** @throws StoreError RECORD_DAMAGED if `body` is a page of another kind than the one that pointed to it says */
export function expectKind(body: Buffer, kind: number, page: number): Buffer {
  if (body[0] !== kind)
    throw new StoreError("RECORD_DAMAGED", `page ${page} is of kind ${body[0]}, expected ${kind}`);
  return body;
}
