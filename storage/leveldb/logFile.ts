/**
 * Reading a file in LevelDB's log format, without LevelDB: its write-ahead logs and its manifest.
 *
 *   file     block of 32 KB *                       the last one as long as it got
 *   block    piece * | up to 6 zeros                a piece never crosses the end of its block
 *   piece    masked crc32c(type, bytes) u32 | length u16 | type u8 | bytes         little-endian
 *   record   FULL, or FIRST MIDDLE * LAST
 *
 * LevelDB's own reader skips what it cannot read and goes on (log_reader.cc, and DBImpl::RecoverLogFile without paranoid
 * checks): a record is lost in silence. Here only a torn end is no damage. The store syncs every write before the next one,
 * so a crash can spoil the last record alone, and what it leaves of it is what reached the disk:
 *
 *   the process was killed    the file ends within the record
 *   the power was cut         that, or zeros where sectors were not written, up to the end of the file
 *
 * Whatever else is there, and anything after which another record begins, is damage.
 */
import {type FileHandle, open} from "node:fs/promises";
import {crc32c, crc32cPrefix, unmaskCrc} from "./crc32c.ts";

export const LOG_BLOCK_BYTES = 32 << 10;
const HEADER_BYTES = 7;
const SECTOR_BYTES = 512;
const PAGE_BYTES = 4096;
/** Fewer zeros at the end of a page may be what was written there. */
const MIN_ZEROS = 8;
const CHUNK_BYTES = 32 * LOG_BLOCK_BYTES;

const UNWRITTEN = 0;
const FULL = 1;
const FIRST = 2;
const MIDDLE = 3;
const LAST = 4;

/** A byte of a file, and what is wrong there. */
export interface LogDamage {
  readonly offset: number;
  readonly what: string;
}

export interface LogContents {
  /** Complete records, up to the first damage. */
  readonly records: number;
  /** The end of the last of them: what was written up to here can be read. */
  readonly end: number;
  /** Bytes of the file. */
  readonly size: number;
  /** Where the torn record begins, if there is one. */
  readonly tornAt: number | undefined;
  /** What of it cannot be read first. */
  readonly torn: LogDamage | undefined;
  /** The first; what comes after it is not counted. */
  readonly damage: LogDamage | undefined;
}

/** @param offset - where the record begins. @returns what is wrong with it, if anything is */
export type OnRecord = (record: Buffer, offset: number) => string | undefined;

/**
 * Reads a log up to its end or to the first damage. Memory does not grow with the file.
 *
 * @param onRecord - gets every complete record, bytes of its own; left out: nothing is gathered
 */
export async function readLog(path: string, onRecord?: OnRecord): Promise<LogContents> {
  const file = await open(path, "r");
  try {
    const {size} = await file.stat();
    const reader = new LogReader(size, onRecord);
    const chunk = Buffer.allocUnsafe(Math.min(size, CHUNK_BYTES));
    for (let at = 0; at < size && reader.damage === undefined; ) {
      const bytes = await readFully(file, chunk.subarray(0, Math.min(size - at, CHUNK_BYTES)), at);
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

/** @returns fewer bytes than `into` has only where the file ends */
async function readFully(file: FileHandle, into: Buffer, position: number): Promise<number> {
  let bytes = 0;
  while (bytes < into.length) {
    const {bytesRead} = await file.read(into, bytes, into.length - bytes, position + bytes);
    if (bytesRead === 0) break;
    bytes += bytesRead;
  }
  return bytes;
}

class LogReader {
  private readonly size: number;
  private readonly onRecord: OnRecord | undefined;
  private records = 0;
  private end = 0;
  /** Of the record that is not complete yet. */
  private startedAt: number | undefined;
  private parts: Buffer[] = [];
  /** The first piece that a crash left unwritten. */
  private torn: LogDamage | undefined;
  damage: LogDamage | undefined;

  constructor(size: number, onRecord: OnRecord | undefined) {
    this.size = size;
    this.onRecord = onRecord;
  }

  contents(): LogContents {
    const {records, end, size, damage} = this;
    const tornAt = damage === undefined ? (this.startedAt ?? this.torn?.offset) : undefined;
    if (tornAt === undefined) return {records, end, size, tornAt, torn: undefined, damage};
    const torn = this.torn ?? {offset: size, what: "the file ends within a record"};
    return {records, end, size, tornAt, torn, damage};
  }

  /** @param start - of the block in the file */
  readBlock(block: Buffer, start: number): void {
    let at = 0;
    while (LOG_BLOCK_BYTES - at >= HEADER_BYTES && at < block.length && this.damage === undefined) {
      const bytes = this.readPiece(block, at, start);
      if (bytes === 0) return;
      at += bytes;
    }
  }

  /** @returns the piece's bytes; 0: the rest of the block is not read */
  private readPiece(block: Buffer, at: number, start: number): number {
    const offset = start + at;
    if (block.length - at < HEADER_BYTES) return this.tear(offset, "the file ends within a header");
    const length = block.readUInt16LE(at + 4);
    const type = block[at + 6] as number;
    const next = at + HEADER_BYTES + length;
    if (type === UNWRITTEN && length === 0) return this.tear(offset, "zeros where a record belongs");
    if (next > LOG_BLOCK_BYTES)
      return this.refuse(offset, `a piece of ${length} bytes, which its block has no room for`);
    const expected = unmaskCrc(block.readUInt32LE(at));
    if (next > block.length) {
      // The checksum is also over the type: of a piece that is all there, with a wrong length, it finds the end.
      const whole = crc32cPrefix(block.subarray(at + 6), expected);
      if (whole === undefined) return this.tear(offset, "the file ends within a record");
      return this.refuse(offset, `a length of ${length}, but the checksum is that of ${whole - 1} bytes`);
    }
    const actual = crc32c(block.subarray(at + 6, next));
    if (actual !== expected) {
      if (!hasUnwrittenPart(block, at, next))
        return this.refuse(offset, `checksum ${actual.toString(16)}, expected ${expected.toString(16)}`);
      this.tear(offset, "zeros within a record");
      return next - at;
    }
    this.take(type, block.subarray(at + HEADER_BYTES, next), offset, start + next);
    return next - at;
  }

  private take(type: number, bytes: Buffer, offset: number, next: number): void {
    const begins = type === FULL || type === FIRST;
    if (this.torn !== undefined) {
      // The next record was written after this one was synced.
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
    const wrong = this.onRecord?.(Buffer.concat(this.parts), start);
    this.parts = [];
    if (wrong !== undefined) {
      this.refuse(start, wrong);
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
    // After a torn piece nothing has to be right but that no other record begins.
    if (this.torn === undefined) this.damage = {offset, what};
    return 0;
  }
}

/**
 * Is one of the sectors that the piece lies in all zero there, as one that was not written? Or does a page of memory end in
 * zeros, as one that was written when less of the piece was there? (Blocks begin with a page.)
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

/** How many of the bytes right before `end` are zero, down to `from`. */
function zerosBefore(block: Buffer, from: number, end: number): number {
  let at = end;
  while (at > from && block[at - 1] === 0) at--;
  return end - at;
}
