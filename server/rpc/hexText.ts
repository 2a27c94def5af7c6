/**
 * Decodes hex digits of untrusted text to bytes.
 *
 * Buffer's "hex" reads only the low byte of each UTF-16 unit, so it takes U+0130 for the digit 0 (Node 20.20). For
 * short text, a loop over a table is also faster: 32 bytes take 90 ns instead of 385.
 */

const INVALID = 0xff;
const LAST_DIGIT = 0x66;

/** From this many bytes on, Buffer's "hex" is faster: 2.6 MB take 9 ms instead of 21. */
const LONG_BYTES = 4096;
const NO_BYTE = /[\u0100-\uffff]/;

/** Values of hex digits by character code, up to that of `f`. */
const VALUES: Uint8Array = createValues();

function createValues(): Uint8Array {
  const values = new Uint8Array(LAST_DIGIT + 1).fill(INVALID);
  for (let digit = 0; digit < 16; digit++) {
    values[digit.toString(16).charCodeAt(0)] = digit;
    values[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
  }
  return values;
}

/** Reads `0x` and up to `2 * byteCount` digits, big-endian. @returns false for other text; `out` is unspecified */
export function decodeHexInto(text: string, out: Uint8Array, at: number, byteCount: number): boolean {
  const length = text.length;
  if (length < 3 || length > 2 + 2 * byteCount) return false;
  if (text.charCodeAt(0) !== 0x30 || (text.charCodeAt(1) | 0x20) !== 0x78) return false;
  let to = at + byteCount;
  let from = length;
  while (from > 3) {
    const low = digitValue(text.charCodeAt(from - 1));
    const high = digitValue(text.charCodeAt(from - 2));
    if ((low | high) > 0x0f) return false;
    out[--to] = (high << 4) | low;
    from -= 2;
  }
  if (from === 3) {
    const low = digitValue(text.charCodeAt(2));
    if (low > 0x0f) return false;
    out[--to] = low;
  }
  if (to > at) out.fill(0, at, to);
  return true;
}

/** Reads `0x` (or `0X`) and two digits per byte, possibly megabytes. @returns undefined for other text */
export function decodeHexBytes(text: string): Uint8Array | undefined {
  if (text === "0x" || text === "0X") return new Uint8Array(0);
  if (text.length % 2 !== 0 || text.length < 4) return undefined;
  const byteCount = text.length / 2 - 1;
  if (byteCount >= LONG_BYTES) return decodeLongHex(text, byteCount);
  const bytes = new Uint8Array(byteCount);
  return decodeHexInto(text, bytes, 0, byteCount) ? bytes : undefined;
}

function decodeLongHex(text: string, byteCount: number): Uint8Array | undefined {
  if (text.charCodeAt(0) !== 0x30 || (text.charCodeAt(1) | 0x20) !== 0x78 || NO_BYTE.test(text))
    return undefined;
  // Buffer.from stops at the first character that is not a digit.
  const bytes = Buffer.from(text.slice(2), "hex");
  return bytes.length === byteCount ? new Uint8Array(bytes.buffer, bytes.byteOffset, byteCount) : undefined;
}

function digitValue(code: number): number {
  return code > LAST_DIGIT ? INVALID : (VALUES[code] as number);
}
