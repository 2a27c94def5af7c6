/** Hex text with `0x`, in lower case and whole bytes. */
import {shown} from "./values.ts";

const DIGITS = "0123456789abcdef";
const PAIRS = Array.from({length: 256}, (_, byte) => `${DIGITS[byte >> 4]}${DIGITS[byte & 15]}`);
const NO_DIGIT = 255;
/** The value of each character code below 128 that is a lower-case digit. */
const VALUES = new Uint8Array(128).fill(NO_DIGIT);
for (let value = 0; value < 16; value++) VALUES[DIGITS.charCodeAt(value)] = value;

/** Text that begins with `0x`, as viem types it. */
export type Hex = `0x${string}`;

export function encodeHex(bytes: Uint8Array): Hex {
  let text: Hex = "0x";
  for (const byte of bytes) text = `${text}${PAIRS[byte]}`;
  return text;
}

/** @throws Error unless `text` is `0x` and whole bytes in lower case, as answers must have it */
export function decodeHex(text: unknown): Uint8Array {
  if (typeof text !== "string" || text.length % 2 !== 0 || !text.startsWith("0x")) throw notHex(text);
  const bytes = new Uint8Array(text.length / 2 - 1);
  for (let i = 0, at = 2; i < bytes.length; i++, at += 2) {
    const high = VALUES[text.charCodeAt(at)] ?? NO_DIGIT;
    const low = VALUES[text.charCodeAt(at + 1)] ?? NO_DIGIT;
    if ((high | low) > 15) throw notHex(text);
    bytes[i] = 16 * high + low;
  }
  return bytes;
}

function notHex(text: unknown): Error {
  return new Error(`expected 0x and lower-case hex of whole bytes, got ${shown(text)}`);
}

/** @returns `0x` and hex digits, no leading zeros */
export function quantity(value: bigint): string {
  return `0x${value.toString(16)}`;
}
