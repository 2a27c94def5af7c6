/**
 * Reads a file in LevelDB's log format without LevelDB: a write-ahead log or the manifest.
 *
 *   file     block of 32 KB *                       the last one may be shorter
 *   block    piece * | up to 6 zeros                a piece never crosses the end of its block
 *   piece    masked crc32c(type, bytes) u32 | length u16 | type u8 | bytes         little-endian
 *   record   FULL, or FIRST MIDDLE * LAST
 *
 * LevelDB's own reader skips what it cannot read and goes on (log_reader.cc, and DBImpl::RecoverLogFile without
 * paranoid checks), so a record is lost in silence. Here only a torn end is not damage. The store syncs every write
 * before the next one. So a crash can spoil only the last record, of which those bytes are left that reached the disk:
 *
 *   the process was killed    the file ends within the record
 *   the power was cut         the same, or zeros up to the end of the file in place of sectors that were not written
 *
 * Everything else that cannot be read is damage, and so is a torn record with another record after it.
 */

import {open} from "node:fs/promises";
import {count} from "../count.ts";
import {READ_AT_ONCE} from "../regularFile.ts";
import {crc32c, crc32cPrefix, unmaskCrc} from "./crc32c.ts";

export const LOG_BLOCK_BYTES = 32 << 10;
const HEADER_BYTES = 7;
const SECTOR_BYTES = 512;
const PAGE_BYTES = 4096;
/** Fewer zeros than this at the end of a page may be data. */
const MIN_ZEROS = 8;
const CHUNK_BYTES = 32 * LOG_BLOCK_BYTES;

const UNWRITTEN = 0;
const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

interface LogDamage {
  readonly offset: number;
  readonly what: string;
}

export interface LogContents {
  readonly records: number;
  /** Where the last complete record ends. Everything before can be read. */
  readonly end: number;
  /** The first part of a torn record that cannot be read. The record begins at `end`. */
  readonly torn: LogDamage | undefined;
  readonly damage: LogDamage | undefined;
}

/** @throws RangeError that says what is wrong with the record */
type OnRecord = (record: Buffer) => void;

/**
 * Reads a log up to its end or the first damage, in constant memory. @throws the system's error if it does not open
 *
 * @param onRecord - called with every complete record, in its own memory
 */
export async function readLog(path: string, onRecord?: OnRecord): Promise<LogContents> {
  const file = await open(path, READ_AT_ONCE);
  try {
    const {size} = await file.stat();
    const reader = new LogReader(size, onRecord);
    const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
    for (let at = 0; at < size && reader.damage === undefined; ) {
      const wanted = Math.min(size - at, CHUNK_BYTES);
      let bytes = 0;
      try {
        for (let got = -1; got !== 0 && bytes < wanted; bytes += got)
          ({bytesRead: got} = await file.read(chunk, bytes, wanted - bytes, at + bytes));
      } catch (error) {
        reader.damage = {offset: at + bytes, what: `it cannot be read: ${(error as Error).message}`};
        break;
      }
      if (bytes === 0) break;
      for (let block = 0; block < bytes && reader.damage === undefined; block += LOG_BLOCK_BYTES)
        reader.readBlock(chunk.subarray(block, Math.min(block + LOG_BLOCK_BYTES, bytes)), at + block);
      at += bytes;
    }
    return reader.contents();
  } finally {
    await file.close();
  }
}

class LogReader {
  private records = 0;
  private end = 0;
  private startedAt: number | undefined;
  private parts: Buffer[] = [];
  /** The first piece that a crash left incomplete. */
  private torn: LogDamage | undefined;
  damage: LogDamage | undefined;

  constructor(
    private readonly size: number,
    private readonly onRecord: OnRecord | undefined,
  ) {}

  contents(): LogContents {
    const {records, end, size, damage} = this;
    const isCut = this.startedAt !== undefined;
    const torn = this.torn ?? (isCut ? {offset: size, what: "the file ends within a record"} : undefined);
    return {records, end, torn: damage === undefined ? torn : undefined, damage};
  }

  readBlock(block: Buffer, start: number): void {
    let at = 0;
    while (LOG_BLOCK_BYTES - at >= HEADER_BYTES && at < block.length && this.damage === undefined) {
      const bytes = this.readPiece(block, at, start);
      if (bytes === 0) return;
      at += bytes;
    }
  }

  /** @returns the piece's size in bytes; 0 if the rest of the block cannot be read */
  private readPiece(block: Buffer, at: number, start: number): number {
    const offset = start + at;
    if (block.length - at < HEADER_BYTES) return this.tear(offset, "the file ends within a header");
    const length = block.readUInt16LE(at + 4);
    const type = block[at + 6] as number;
    const next = at + HEADER_BYTES + length;
    if (type === UNWRITTEN && length === 0) return this.tear(offset, "zeros where a record belongs");
    if (next > LOG_BLOCK_BYTES)
      return this.refuse(offset, `a piece of ${count(length, "byte")} that does not fit its block`);
    const expected = unmaskCrc(block.readUInt32LE(at));
    if (next > block.length) {
      // The checksum covers the type too. If only the length of a complete piece is wrong, this finds its end.
      const whole = crc32cPrefix(block.subarray(at + 6), expected);
      if (whole === undefined) return this.tear(offset, "the file ends within a record");
      return this.refuse(offset, `a length of ${length}, but the checksum is that of ${whole - 1} bytes`);
    }
    const actual = crc32c(block.subarray(at + 6, next));
    if (actual !== expected) {
      if (!hasUnwrittenPart(block, at, next))
        return this.refuse(offset, `checksum: expected ${expected.toString(16)}, got ${actual.toString(16)}`);
      this.tear(offset, "zeros within a record");
      return next - at;
    }
    this.take(type, block.subarray(at + HEADER_BYTES, next), offset, start + next);
    return next - at;
  }

  private take(type: number, bytes: Buffer, offset: number, next: number): void {
    const begins = type === FULL || type === FIRST;
    if (this.torn !== undefined) {
      // This is damage: the next record was written after this one was synced.
      if (begins) this.damage = {...this.torn, what: `${this.torn.what}, although records follow`};
      return;
    }
    if (!begins && type !== MIDDLE && type !== LAST) {
      this.refuse(offset, `a piece of the unknown type ${type}`);
      return;
    }
    if (begins && this.startedAt !== undefined) {
      this.refuse(this.startedAt, `a record without an end: the next one begins at byte ${offset}`);
      return;
    }
    if (!begins && this.startedAt === undefined) {
      this.refuse(offset, "a piece of a record without its beginning");
      return;
    }
    if (begins) this.startedAt = offset;
    if (this.onRecord !== undefined) this.parts.push(new Uint8Array(bytes) as Buffer);
    if (type !== FULL && type !== LAST) return;
    const start = this.startedAt as number;
    this.startedAt = undefined;
    const record = Buffer.concat(this.parts);
    this.parts = [];
    try {
      this.onRecord?.(record);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.refuse(start, `a wrong record: ${error.message}`);
      return;
    }
    this.records++;
    this.end = next;
  }

  private tear(offset: number, what: string): 0 {
    this.torn ??= {offset, what};
    return 0;
  }

  private refuse(offset: number, what: string): 0 {
    // After a torn piece anything may follow except the beginning of another record.
    if (this.torn === undefined) this.damage = {offset, what};
    return 0;
  }
}

/**
 * Was part of the piece never written? There are two signs of it. A sector within the piece is all zero: it never
 * reached the disk. Or a page of memory ends in zeros: it was written to disk before all of the piece was in it.
 * (Blocks begin with a page.)
 */
function hasUnwrittenPart(block: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; ) {
    const end = Math.min(to, at + SECTOR_BYTES - (at % SECTOR_BYTES));
    if (zerosBefore(block, at, end) === end - at) return true;
    at = end;
  }
  for (let at = from; at < to; ) {
    const end = Math.min(block.length, at + PAGE_BYTES - (at % PAGE_BYTES));
    const zeros = zerosBefore(block, at, end);
    if (zeros >= MIN_ZEROS && end - zeros < to) return true;
    at = end;
  }
  return false;
}

function zerosBefore(block: Buffer, from: number, end: number): number {
  let at = end;
  while (at > from && block[at - 1] === 0) at--;
  return end - at;
}
