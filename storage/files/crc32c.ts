/**
 * The checksum of LevelDB's files: CRC-32C, stored in a masked form.
 *
 *   stored   rotateRight(crc, 15) + 0xa282ead8      leveldb util/crc32c.h
 *
 * Time for 64 MB: 45 ms in pieces of 32 KB (as in a log), 50 ms in pieces of 4 KB (as in a table), 85 ms in pieces of 512
 * bytes.
 */
import {createRequire} from "node:module";
import type HashWasm from "hash-wasm";

/** As `import` Node scans the library's 280 KB for its exports: 50 ms more in each thread. */
const {createCRC32}: typeof HashWasm = createRequire(import.meta.url)("hash-wasm");

/** Castagnoli's polynomial with its bits reversed. */
const POLYNOMIAL = 0x82f63b78;
const MASK_DELTA = 0xa282ead8;

const hasher = await createCRC32(POLYNOMIAL);

/** @returns 0 <= crc < 2^32 */
export function crc32c(bytes: Uint8Array): number {
  hasher.init();
  hasher.update(bytes);
  const [a = 0, b = 0, c = 0, d = 0] = hasher.digest("binary");
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** @returns the length of a prefix of `bytes` with this checksum, at least 1; undefined if no prefix has it */
export function crc32cPrefix(bytes: Uint8Array, crc: number): number | undefined {
  let state = -1;
  for (let i = 0; i < bytes.length; i++) {
    state ^= bytes[i];
    for (let bit = 0; bit < 8; bit++) state = (state >>> 1) ^ (state & 1 ? POLYNOMIAL : 0);
    if (~state >>> 0 === crc) return i + 1;
  }
  return undefined;
}

/** @returns the checksum of a masked form */
export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
