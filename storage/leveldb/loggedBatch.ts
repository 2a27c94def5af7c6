/**
 * Reads a record of a write-ahead log, which is one batch.
 *
 *   batch   sequence u64 | count u32 | entry * count                     little-endian, leveldb db/write_batch.cc
 *   entry   1 | key | value, or 0 | key                                  length-prefixed
 *
 * Each entry has its own sequence number, and the next batch goes on from there. So a missing batch leaves a gap.
 */
import {ByteReader} from "./byteReader.ts";

const HEADER_BYTES = 12;
const DELETION = 0;
const VALUE = 1;

export interface LoggedBatch {
  /** Sequence number of its first entry. */
  readonly sequence: number;
  readonly count: number;
}

/** @throws RangeError if it is not a batch */
export function readLoggedBatch(record: Buffer): LoggedBatch {
  if (record.length < HEADER_BYTES) throw new RangeError(`a batch of ${record.length} bytes`);
  const count = record.readUInt32LE(8);
  const entries = new ByteReader(record.subarray(HEADER_BYTES));
  for (let entry = 0; entry < count; entry++) {
    const type = entries.byte();
    if (type !== DELETION && type !== VALUE) throw new RangeError(`unknown type ${type} of entry ${entry}`);
    entries.prefixedBytes();
    if (type === VALUE) entries.prefixedBytes();
  }
  if (!entries.isAtEnd) throw new RangeError(`more than its ${count} entries`);
  return {sequence: Number(record.readBigUInt64LE(0)), count};
}
