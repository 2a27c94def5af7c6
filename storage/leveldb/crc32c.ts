/**
 * The checksum of LevelDB's files: CRC-32C, stored in a masked form.
 *
 *   stored   rotateRight(crc, 15) + 0xa282ead8      leveldb util/crc32c.h
 */
import {crc32c} from "@node-rs/crc32";

const MASK_DELTA = 0xa282ead8;

/** @returns the length of a prefix of `bytes` with this checksum, at least 1; undefined if no prefix has it */
export function crc32cPrefix(bytes: Uint8Array, crc: number): number | undefined {
  let prefixCrc = 0;
  for (let end = 1; end <= bytes.length; end++) {
    prefixCrc = crc32c(bytes.subarray(end - 1, end), prefixCrc);
    if (prefixCrc === crc) return end;
  }
  return undefined;
}

export {crc32c};

/** @returns the checksum of a masked form */
export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
