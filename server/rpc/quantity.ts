/** Quantities of JSON-RPC: `0x` and hex digits, without leading zeros. */

/** Digits of a 256-bit number, and of a hash. No quantity can be longer. */
const MAX_DIGITS = 64;
/** 13 hex digits are 52 bits, which a double holds exactly. */
const EXACT_DIGITS = 13;

const QUANTITY = /^0[xX](0|[1-9a-fA-F][0-9a-fA-F]*)$/;

/** undefined stays undefined, for a value that does not exist. */
export function encodeQuantity(value: number | bigint): string;
export function encodeQuantity(value: number | bigint | undefined): string | null;
export function encodeQuantity(value: number | bigint | undefined): string | null {
  return value === undefined ? null : `0x${value.toString(16)}`;
}

/** As parseQuantity, but a text as long as a block's hash is no block number. */
export function parseBlockNumber(text: string): number | undefined {
  return text.length < 2 + MAX_DIGITS ? parseQuantity(text) : undefined;
}

/** @returns the number, Infinity above 2^52 - 1; undefined for text that is no quantity of at most 64 digits */
export function parseQuantity(text: string): number | undefined {
  if (text.length < 3 || text.length > 2 + MAX_DIGITS) return undefined;
  const digits = QUANTITY.exec(text)?.[1];
  if (digits === undefined) return undefined;
  if (digits.length > EXACT_DIGITS) return Number.POSITIVE_INFINITY;
  return Number.parseInt(digits, 16);
}
