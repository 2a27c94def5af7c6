/** Quantities of the wire: `0x` and hex digits, leading zeros allowed. */

/** Digits of a 256-bit number; no quantity that we read can be longer. */
const MAX_DIGITS = 64;
/** 13 hex digits are 52 bits, exact in a double. */
const EXACT_DIGITS = 13;

const QUANTITY = /^0[xX]0*([0-9a-fA-F]*)$/;

/** null stays null: "there is none". */
export function encodeQuantity(value: number | bigint): string;
export function encodeQuantity(value: number | bigint | null): string | null;
export function encodeQuantity(value: number | bigint | null): string | null {
  return value === null ? null : `0x${value.toString(16)}`;
}

/**
 * @returns the number, Infinity where it exceeds 2^52 - 1 (no block has such a number), or undefined for text that is
 * no quantity: without digits, with other characters or of more than 64 digits
 */
export function parseQuantity(text: string): number | undefined {
  if (text.length < 3 || text.length > 2 + MAX_DIGITS) return undefined;
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const digits = match[1] as string;
  if (digits.length > EXACT_DIGITS) return Number.POSITIVE_INFINITY;
  return digits === "" ? 0 : Number.parseInt(digits, 16);
}
