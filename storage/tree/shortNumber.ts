/** Numbers in leaf pages (nonces, balances, slots): big-endian, without leading zeros, 0 to 32 bytes. */
import {WORD_BYTES} from "../hash/suite.ts";

/** `bytes` without its leading zeros, a view. */
export function stripZeros(bytes: Uint8Array): Uint8Array {
  let start = 0;
  while (start < bytes.length && bytes[start] === 0) start++;
  return bytes.subarray(start);
}

/** Writes the number as a word: 32 bytes at `offset` of `out`. */
export function writeWordInto(out: Uint8Array, offset: number, number: Uint8Array): void {
  const start = offset + WORD_BYTES - number.length;
  out.fill(0, offset, start);
  out.set(number, start);
}
