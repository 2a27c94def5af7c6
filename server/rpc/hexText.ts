/**
 * Hex digits of untrusted text to bytes.
 *
 * Not Buffer.write(..., "hex"): it looks at the low byte of each UTF-16 unit only and so takes U+0130 for the digit 0
 * (Node 20.20), and a loop over a table is faster: 32 bytes in 90 ns instead of 385.
 */

const INVALID = 0xff;
const LAST_DIGIT = 0x66;

/** Value of a digit by its character code, up to `f`. */
const VALUES: Uint8Array = createValues();

function createValues(): Uint8Array {
  const values = new Uint8Array(LAST_DIGIT + 1).fill(INVALID);
  for (let digit = 0; digit < 16; digit++) {
    values[digit.toString(16).charCodeAt(0)] = digit;
    values[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
  }
  return values;
}

/**
 * Reads `0x` (or `0X`) and at most `2 * byteCount` digits as a number of that many bytes, big-endian, zeros in front.
 *
 * @param out - written from `at`; unspecified where the answer is false
 * @returns false for text without prefix or digits, with too many or with another character
 */
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

/**
 * Reads `0x` (or `0X`) and two digits per byte; `0x` alone is no bytes. One pass, no regular expression: the text may
 * have megabytes.
 *
 * @returns undefined for text without prefix, with an odd count of digits or with another character
 */
export function decodeHexBytes(text: string): Uint8Array | undefined {
  if (text === "0x" || text === "0X") return new Uint8Array(0);
  if (text.length % 2 !== 0 || text.length < 4) return undefined;
  const bytes = new Uint8Array(text.length / 2 - 1);
  return decodeHexInto(text, bytes, 0, bytes.length) ? bytes : undefined;
}

function digitValue(code: number): number {
  return code > LAST_DIGIT ? INVALID : (VALUES[code] as number);
}
