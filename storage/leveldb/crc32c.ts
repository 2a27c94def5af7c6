/**
 * The checksum of LevelDB's files: CRC-32C, stored in a masked form.
 *
 *   stored   rotateRight(crc, 15) + 0xa282ead8      leveldb util/crc32c.h
 */
import {loadWasm} from "../hash/webAssembly.ts";
import type {Exports} from "./crc32c.wasm.d.ts";

const MASK_DELTA = 0xa282ead8;

const {memory, bytesAt, update} = loadWasm<Exports>(new URL("crc32c.wasm", import.meta.url));
const room = new Uint8Array(memory.buffer, bytesAt.value);

export function crc32c(bytes: Uint8Array): number {
  let crc = 0;
  for (let at = 0; at < bytes.length; at += room.length) {
    const part = bytes.subarray(at, at + room.length);
    room.set(part);
    crc = update(crc, part.length);
  }
  return crc >>> 0;
}

/** @returns the length of a prefix of `bytes` with this checksum, at least 1; undefined if no prefix has it */
export function crc32cPrefix(bytes: Uint8Array, crc: number): number | undefined {
  let prefixCrc = 0;
  for (const [at, byte] of bytes.entries()) {
    room[0] = byte;
    prefixCrc = update(prefixCrc, 1) >>> 0;
    if (prefixCrc === crc) return at + 1;
  }
  return undefined;
}

/** @returns the checksum of a masked form */
export function unmaskCrc(masked: number): number {
  const rotated = (masked - MASK_DELTA) >>> 0;
  return ((rotated >>> 17) | (rotated << 15)) >>> 0;
}
