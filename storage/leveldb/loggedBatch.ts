/**
 * Reads a record of a write-ahead log, which is one batch.
 *
 *   batch   sequence u64 | count u32 | entry * count                     little-endian, leveldb db/write_batch.cc
 *   entry   1 | key | value, or 0 | key                                  length-prefixed
 *
 * Each entry has its own sequence number, and the next batch continues from there. So a missing batch leaves a gap.
 */
import {ByteReader} from "./byteReader.ts";
import {Kind} from "./internalKey.ts";

const HEADER_BYTES = 12;

/** Called with every entry. @param value - undefined: the key is deleted */
type OnEntry = (key: Buffer, value: Buffer | undefined) => void;

/** @throws RangeError if it is not a batch */
export function readLoggedBatch(
  record: Buffer,
  onEntry: OnEntry = () => {},
): {sequence: number; count: number} {
  if (record.length < HEADER_BYTES) throw new RangeError(`a batch of ${record.length} bytes`);
  const count = record.readUInt32LE(8);
  const entries = new ByteReader(record.subarray(HEADER_BYTES));
  for (let entry = 0; entry < count; entry++) {
    const type = entries.byte();
    if (type !== Kind.DELETION && type !== Kind.VALUE)
      throw new RangeError(`unknown type ${type} of entry ${entry}`);
    const key = entries.prefixedBytes();
    onEntry(key, type === Kind.VALUE ? entries.prefixedBytes() : undefined);
  }
  if (!entries.isAtEnd) throw new RangeError(`more than its ${count} entries`);
  return {sequence: Number(record.readBigUInt64LE(0)), count};
}
