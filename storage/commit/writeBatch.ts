/**
 * Gathers what is to be written until it is worth a synced LevelDB batch.
 *
 * LevelDB does not sync a log when it starts the next one, so a power cut could lose an unsynced batch although a later
 * one survives. So every batch is synced; several blocks can share one. Pages may be written before their block's
 * record, never after it: the record is the commit point.
 */
import type {Level} from "level";
import {type BlockRecord, encodeBlockRecord} from "../block/blockRecord.ts";
import type {StateReader} from "../block/stateReader.ts";
import type {Pages} from "../cache/pages.ts";
import {writeNote} from "../directory/acknowledgedNote.ts";
import {assertInvariant} from "../invariant.ts";
import {writeFailed} from "../leveldb/levelErrors.ts";
import {LogTail} from "../leveldb/logTail.ts";
import {chooseForm, type OpenPage, type ReplacedPage} from "../page/pageDifference.ts";
import {blockKey, codeKey, hashKey, nodeKey, pageKey, prunedKey, writePageKeyInto} from "../record/layout.ts";
import {CHECKSUM_BYTES, sealRecord, sealRecordInPlace} from "../record/record.ts";
import {encodeNumber} from "../record/recordBody.ts";
import type {TrieStore} from "../trie/trieStore.ts";

/** A sync costs milliseconds, so larger batches gain little. */
const BATCH_BYTES = 8 << 20;
/** LevelDB's own bytes for a record in a batch: lengths and tag, rounded up. */
const RECORD_OVERHEAD_BYTES = 32;
/** Some 15 MB of them. */
const MOST_READ_PAGES = 4096;
const NO_PAGE: ReplacedPage = {page: 0};

interface Put {
  /** All pages share one key buffer, which is filled in from the number. */
  readonly key: Buffer;
  readonly value: Buffer;
  /** 0: the record is no page. */
  readonly page: number;
  readonly opened: OpenPage | undefined;
  /** The page that it replaces; 0: none. */
  readonly before: number;
}

/** Records that LevelDB does not have yet, and pages that were read since the last flush. */
class Pending {
  readonly pages = new Map<number, OpenPage>();
  readonly records = new Map<string, Buffer>();
}

export class WriteBatch implements TrieStore {
  private puts: Put[] = [];
  private bytes = 0;
  private flushes = 0;
  private pending = new Pending();
  private writing = new Pending();
  /** undefined: no write is in progress. After a refused write, this stays rejected. */
  private written: Promise<void> | undefined;
  /** The newest block whose record was put, now or before. undefined: none. */
  private newestBlock: number | undefined;
  private readonly pageKey = pageKey(0);
  /** Bytes of the keys and values that LevelDB has got. */
  bytesWritten = 0;

  private readonly pages: Pages;
  private readonly tail: LogTail;

  constructor(
    private readonly target: WriteTarget,
    private nextPage = 0,
  ) {
    this.pages = target.reader.pages;
    this.tail = new LogTail(target.directory);
  }

  get hasPending(): boolean {
    return this.puts.length > 0;
  }

  get isFull(): boolean {
    return this.bytes >= BATCH_BYTES;
  }

  read(page: number): Buffer {
    return this.open(page).body;
  }

  private readonly open = (page: number): OpenPage => {
    const {pages} = this.pending;
    const known = pages.get(page) ?? this.writing.pages.get(page);
    if (known !== undefined) return known;
    const opened = this.pages.open(page);
    if (pages.size > this.puts.length + MOST_READ_PAGES) this.forgetRead();
    pages.set(page, opened);
    return opened;
  };

  putPage(encode: (spare: number) => Buffer, before: ReplacedPage = NO_PAGE): number {
    const page = this.nextPage++;
    const whole = encode(CHECKSUM_BYTES);
    const body = whole.subarray(0, whole.length - CHECKSUM_BYTES);
    const {opened, record: value = whole} = chooseForm(this.open, page, before, body, CHECKSUM_BYTES);
    this.pending.pages.set(page, opened);
    const key = this.pageKey;
    writePageKeyInto(key, page);
    sealRecordInPlace(key, value);
    this.push({key, value, page, opened, before: before.page});
    return page;
  }

  put(key: Buffer, body: Uint8Array): void {
    const value = sealRecord(key, body);
    this.keepPending(key, value);
    this.push({key, value, page: 0, opened: undefined, before: 0});
  }

  /** Puts the record of a block whose pages were put, and the record of its hash. @param isMissed - it has no state */
  putBlock(block: Omit<BlockRecord, "nextPage">, isMissed = false): void {
    const {number, hash} = block.header;
    this.put(hashKey(hash), encodeNumber(number));
    const record = encodeBlockRecord({...block, nextPage: this.nextPage});
    this.put(isMissed ? prunedKey(number) : blockKey(number), record);
    // Without a block above it, a restart removes it.
    if (!isMissed) this.newestBlock = number;
  }

  pendingRecord(key: Buffer): Buffer | undefined {
    const name = key.toString("latin1");
    return this.pending.records.get(name) ?? this.writing.records.get(name);
  }

  /** Also a code that is not flushed yet. @param hash - keccak256. @throws StoreError RECORD_DAMAGED */
  findCode(hash: Uint8Array): Uint8Array | undefined {
    return this.pendingRecord(codeKey(hash)) ?? this.target.reader.findCode(hash);
  }

  putCode(hash: Uint8Array, code: Uint8Array): void {
    if (this.findCode(hash) === undefined) this.put(codeKey(hash), code);
  }

  findNode(hash: Uint8Array): Uint8Array | undefined {
    return this.pendingRecord(nodeKey(hash)) ?? this.pages.findNode(hash);
  }

  putNode(hash: Uint8Array, node: Uint8Array): void {
    if (this.findNode(hash) === undefined) this.put(nodeKey(hash), node);
  }

  /** @returns a rollback: drops what was put since and is not written. No block leads to written pages */
  begin(): () => void {
    const mark = this.puts.length;
    const {flushes, newestBlock} = this;
    // A flush empties the batch, so all records in it were put after the flush.
    return () => {
      this.dropSince(this.flushes === flushes ? mark : 0);
      this.newestBlock = newestBlock;
    };
  }

  private dropSince(mark: number): void {
    for (const put of this.puts.splice(mark)) {
      this.bytes -= recordBytes(put);
      if (put.page === 0) this.pending.records.delete(put.key.toString("latin1"));
      else this.pending.pages.delete(put.page);
    }
    // An older version of a dropped record may be in the batch.
    for (const {key, value, page} of this.puts) if (page === 0) this.keepPending(key, value);
  }

  /**
   * Writes and syncs all records that were put, and acknowledges their blocks. Records that are put meanwhile wait for
   * the next flush.
   *
   * @throws StoreError WRITE_FAILED. The batch rejects all later writes then
   */
  async flush(): Promise<void> {
    while (this.written !== undefined) await this.written;
    if (this.puts.length === 0) return;
    this.written = this.write();
    await this.written;
  }

  /** @param nextPage - no page on disk has this number or a higher one. @param newestBlock - on disk */
  reset(nextPage: number, newestBlock: number | undefined): void {
    if (this.puts.length > 0 || this.written !== undefined)
      throw new Error("a write batch is reset although it has records that are not on disk");
    this.pending = new Pending();
    this.nextPage = Math.max(this.nextPage, nextPage);
    this.newestBlock = newestBlock;
  }

  /** Pages may be written before the record of their block. @throws StoreError as `flush` */
  async flushIfFull(): Promise<void> {
    if (this.isFull) await this.flush();
  }

  private async write(): Promise<void> {
    // Also for a flush within a block: if that block is refused, no other flush names the blocks before it.
    const {puts, bytes, newestBlock: block} = this;
    const {db, directory} = this.target;
    this.requireNewPages(puts);
    this.writing = this.pending;
    this.pending = new Pending();
    this.puts = [];
    this.bytes = 0;
    this.flushes++;
    try {
      // Chained calls: handing over an array of operations takes seven times as long (bench: commit).
      const batch = db.batch();
      for (const {key, value, page} of puts) {
        if (page !== 0) writePageKeyInto(key, page);
        batch.put(key, value);
      }
      await batch.write({sync: true});
    } catch (error) {
      throw writeFailed(error);
    }
    const {page, key, value} = puts.at(-1) as Put;
    if (page !== 0) writePageKeyInto(key, page);
    assertInvariant(
      db.getSync(key)?.equals(value) === true,
      "LevelDB has the last record of a written batch",
    );
    this.tail.advance();
    this.bytesWritten += bytes - puts.length * RECORD_OVERHEAD_BYTES;
    for (const {page, opened} of puts) if (opened !== undefined) this.pages.keep(page, opened);
    for (const {before} of puts) if (before !== 0) this.pages.forget(before);
    if (block !== undefined)
      writeNote(directory, {block, log: this.tail.number, bytes: this.tail.bytes}, false);
    this.writing = new Pending();
    this.written = undefined;
  }

  /** A page that replaced another one under its number would change what older blocks have. */
  private requireNewPages(puts: readonly Put[]): void {
    for (const {page} of puts) {
      if (page === 0) continue;
      assertInvariant(page > this.pages.writtenTo, "page numbers rise from write to write");
      assertInvariant(page < this.nextPage, "block records name a page number above all pages");
      this.pages.writtenTo = page;
    }
  }

  private keepPending(key: Buffer, value: Buffer): void {
    this.pending.records.set(key.toString("latin1"), value.subarray(0, value.length - CHECKSUM_BYTES));
  }

  private forgetRead(): void {
    this.pending.pages.clear();
    for (const {page, opened} of this.puts) if (opened !== undefined) this.pending.pages.set(page, opened);
  }

  private push(put: Put): void {
    this.puts.push(put);
    this.bytes += recordBytes(put);
  }
}

function recordBytes({key, value}: Put): number {
  return key.length + value.length + RECORD_OVERHEAD_BYTES;
}

export interface WriteTarget {
  readonly reader: StateReader;
  readonly db: Level<Buffer, Buffer>;
  readonly directory: string;
}

/** Of LevelDB, for other writes than those of blocks. */
export type Batch = ReturnType<WriteTarget["db"]["batch"]>;

export function put(batch: Batch, key: Buffer, body: Buffer): void {
  batch.put(key, sealRecord(key, body));
}
