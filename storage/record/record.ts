/**
 * Every record ends with a checksum over its key and its body.
 *
 *   value   body | crc32(key, body) u32
 *
 * LevelDB verifies nothing when it reads, and a disk can flip a bit in its files. The checksum covers the key too, so
 * that a record found under another record's key is detected. Cost: 0.27 us per KB.
 */

import {crc32} from "node:zlib";
import {count} from "../count.ts";
import {StoreError} from "../errors.ts";
import {nameOfKey} from "./layout.ts";

export const CHECKSUM_BYTES = 4;

/** The CRC-32 of each byte. A key's is computed here: a call into zlib takes as long as 50 bytes. */
const CRC_OF_BYTE = Uint32Array.from({length: 256}, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  return crc;
});

function crcOfKey(key: Buffer): number {
  let crc = -1;
  for (let i = 0; i < key.length; i++)
    crc = (CRC_OF_BYTE[(crc ^ (key[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}

export function sealRecord(key: Buffer, body: Uint8Array): Buffer {
  const value = Buffer.allocUnsafe(body.length + CHECKSUM_BYTES);
  value.set(body, 0);
  sealRecordInPlace(key, value);
  return value;
}

/**
 * Fills in the last CHECKSUM_BYTES of `value`, whose body is complete. The checksum is that of a view of `value`: of an empty
 * body without memory, the optimized crc32 of Node 22 and 24 is 0.
 */
export function sealRecordInPlace(key: Buffer, value: Buffer): void {
  const bodyBytes = value.length - CHECKSUM_BYTES;
  value.writeUInt32BE(crc32(value.subarray(0, bodyBytes), crcOfKey(key)), bodyBytes);
}

/** @returns the body, a view. @throws StoreError RECORD_DAMAGED */
export function openRecord(key: Buffer, value: Buffer): Buffer {
  const bodyBytes = value.length - CHECKSUM_BYTES;
  if (bodyBytes < 0)
    throw new StoreError("RECORD_DAMAGED", `${nameOfKey(key)}: ${count(value.length, "byte")}, too short`);
  const body = value.subarray(0, bodyBytes);
  const expected = value.readUInt32BE(bodyBytes);
  const actual = crc32(body, crcOfKey(key));
  if (actual !== expected)
    throw new StoreError(
      "RECORD_DAMAGED",
      `${nameOfKey(key)}: checksum: expected ${expected.toString(16)}, got ${actual.toString(16)}`,
    );
  return body;
}
