/**
 * Parses values inside a call, from untrusted JSON. An error names the path of the value.
 *
 * null means that a field is omitted. Only own fields are read, so `__proto__` is a key like any other.
 */
import {decodeHexBytes} from "../../rpc/hexText.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import {ADDRESS_BYTES, requireAddressInto} from "../words.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** A quantity must be below this bound. `text` is how messages write it. */
export interface Bound {
  readonly below: bigint;
  readonly text: string;
}

/** Entries of a list that are parsed in one part of the main thread's time, in at most 0.6 ms. */
export const PART_ENTRIES = 256;

export const WORD_BOUND: Bound = {below: 2n ** 256n, text: "2^256"};
/** The bound of EIP-2681. */
export const NONCE_BOUND: Bound = {below: 2n ** 64n - 1n, text: "2^64 - 1"};
export const GAS_BOUND: Bound = {below: 2n ** 64n, text: "2^64"};

/** Allows only as many digits as a number below 2^256 can have. */
const AMOUNT = /^(0[xX](0|[1-9a-fA-F][0-9a-fA-F]{0,63})|[0-9]{1,78})$/;

/** @returns undefined for a field that is left out or null */
export function readField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** @param fields - with all names that are asked for */
export function hasField(fields: Fields, name: string): boolean {
  const value = fields[name];
  return value !== undefined && value !== null;
}

/** @param fields - with all names that are asked for */
export function parseField<Value>(
  fields: Fields,
  name: string,
  path: string,
  parse: (value: unknown, path: string) => Value,
): Value | undefined {
  return hasField(fields, name) ? parse(fields[name], `${path}.${name}`) : undefined;
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
  const forms =
    "as a string, 0x hex without leading zeros or decimal, or as a whole JSON number up to 2^53 - 1";
  throw createValueError(path, value, `a quantity below ${bound.text} (${forms})`);
}

export function parseWei(value: unknown, path: string): bigint {
  return parseAmount(value, path, WORD_BOUND);
}

export function parseNonce(value: unknown, path: string): bigint {
  return parseAmount(value, path, NONCE_BOUND);
}

/** Parses any number of whole bytes. Empty text has none. */
export function parseBytes(value: unknown, path: string): Uint8Array {
  const bytes = typeof value === "string" ? decodeHexBytes(value === "" ? "0x" : value) : undefined;
  if (bytes === undefined) throw createValueError(path, value, "0x and two hex digits per byte");
  return bytes;
}

export function parseAddress(value: unknown, path: string): Uint8Array {
  const address = new Uint8Array(ADDRESS_BYTES);
  requireAddressInto(value, path, address, 0);
  return address;
}
