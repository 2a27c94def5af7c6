/**
 * Parses values inside a call of chain_estimateGas, from untrusted JSON. An error names the path of the value, what came
 * and what is expected.
 *
 * null means that a field is left out. Only an object's own fields are read, so `__proto__` is a key like any other.
 */
import {decodeHexBytes, decodeHexInto} from "../../rpc/hexText.ts";
import {createValueError} from "../../rpc/rpcError.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A quantity must be below this bound. `text` is how messages write it. */
export interface Bound {
  readonly below: bigint;
  readonly text: string;
}

export const WORD_BOUND: Bound = {below: 2n ** 256n, text: "2^256"};
/** The bound of EIP-2681. */
export const NONCE_BOUND: Bound = {below: 2n ** 64n - 1n, text: "2^64 - 1"};

export const ADDRESS_BYTES = 20;
export const ADDRESS_EXPECTED = "20 bytes, 0x and 40 hex digits";
export const WORD_BYTES = 32;
export const WORD_EXPECTED = "0x and 1 to 64 hex digits";
/** Allows only as many digits as a number below 2^256 can have. */
const AMOUNT = /^(0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})$/;

/** @returns undefined for a field that is left out or null */
export function readField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** Reads one field as an object to spread. The object is empty if the field is left out, so no field is set to undefined. */
export function parseField<Name extends string, Value>(
  fields: Fields,
  name: Name,
  path: string,
  parse: (value: unknown, path: string) => Value,
): {readonly [name in Name]?: Value} {
  const value = readField(fields, name);
  if (value === undefined) return {};
  return {[name]: parse(value, `${path}.${name}`)} as {readonly [name in Name]: Value};
}

export function parseFields(value: unknown, path: string, expected: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw createValueError(path, value, expected);
}

/** Parses a quantity: 0x hex, a decimal string (not ambiguous, since hex needs its 0x) or a JSON number that is exact. */
export function parseAmount(value: unknown, path: string, bound: Bound): bigint {
  const isNumber = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if (isNumber || (typeof value === "string" && AMOUNT.test(value))) {
    const amount = BigInt(value);
    if (amount < bound.below) return amount;
  }
  const forms = "as a string, 0x hex or decimal, or as a whole JSON number up to 2^53 - 1";
  throw createValueError(path, value, `a quantity below ${bound.text} (${forms})`);
}

export function parseWei(value: unknown, path: string): bigint {
  return parseAmount(value, path, WORD_BOUND);
}

export function parseNonce(value: unknown, path: string): bigint {
  return parseAmount(value, path, NONCE_BOUND);
}

/** Parses any number of whole bytes. */
export function parseBytes(value: unknown, path: string): Uint8Array {
  const bytes = typeof value === "string" ? decodeHexBytes(value) : undefined;
  if (bytes === undefined) throw createValueError(path, value, "0x and two hex digits per byte");
  return bytes;
}

export function parseAddress(value: unknown, path: string): Uint8Array {
  const address = decodeAddressInto(value, new Uint8Array(ADDRESS_BYTES), 0);
  if (address === undefined) throw createValueError(path, value, ADDRESS_EXPECTED);
  return address;
}

/** Writes 20 bytes at `at`. @returns a view of them in `out`, or undefined if `value` is not an address (ADDRESS_EXPECTED) */
export function decodeAddressInto(value: unknown, out: Uint8Array, at: number): Uint8Array | undefined {
  const isWhole = typeof value === "string" && value.length === 2 + 2 * ADDRESS_BYTES;
  if (!isWhole || !decodeHexInto(value, out, at, ADDRESS_BYTES)) return undefined;
  return out.subarray(at, at + ADDRESS_BYTES);
}

/**
 * Writes 32 bytes at `at`. Hot: a call may have twenty thousand words, so only a caller that refuses one builds its path.
 *
 * @returns false if `value` is not a word (WORD_EXPECTED)
 */
export function decodeWordInto(value: unknown, out: Uint8Array, at: number): boolean {
  return typeof value === "string" && decodeHexInto(value, out, at, WORD_BYTES);
}
