/** Parses values in a node's responses. An invalid value throws a NodeFailure with the field's name. */
import {NodeFailure} from "./node.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Longest part of an invalid text in a message. */
const SHOWN_CHARACTERS = 80;
/** The form that nearly all nodes send, which needs no conversion. */
const LOWER_ADDRESS = /^0x[0-9a-f]{40}$/;
const LOWER_WORD = /^0x[0-9a-f]{64}$/;

export function parseObject(value: unknown, field: string): JsonObject {
  if (typeof value !== "object" || !value || Array.isArray(value))
    throw unexpected(field, value, "an object");
  return value as JsonObject;
}

export function parseArray(value: unknown, field: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unexpected(field, value, "an array");
  return value;
}

/** `0x` and 1 to 64 hex digits, or a JSON number, as geth writes nonces. @param bits - the quantity is below 2^bits */
export function parseQuantity(value: unknown, field: string, bits: number): bigint {
  const isText = typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value);
  if (!isText && !(Number.isSafeInteger(value) && (value as number) >= 0))
    throw unexpected(field, value, "a quantity (0x and 1 to 64 hex digits)");
  const quantity = BigInt(value as string | number);
  if (quantity >= 1n << BigInt(bits)) throw unexpected(field, value, `a quantity below 2^${bits}`);
  return quantity;
}

/** `0x` and 1 to 13 hex digits: 52 bits, which a double represents exactly. Block numbers have 48 bits. */
export function parseNumber(value: unknown, field: string): number {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,13}$/.test(value))
    throw unexpected(field, value, "a number (0x and 1 to 13 hex digits)");
  return Number(value);
}

/** `0x` and pairs of hex digits. */
export function parseBytes(value: unknown, field: string, maxBytes = Number.POSITIVE_INFINITY): Buffer {
  const limit = Number.isFinite(maxBytes) ? `at most ${maxBytes} ` : "";
  const rule = `${limit}bytes (0x and pairs of hex digits)`;
  if (typeof value !== "string" || !value.startsWith("0x") || value.length % 2 !== 0)
    throw unexpected(field, value, rule);
  const length = value.length / 2 - 1;
  if (length > maxBytes) throw unexpected(field, value, rule);
  const bytes = Buffer.from(value.slice(2), "hex");
  if (bytes.length !== length) throw unexpected(field, value, rule);
  return bytes;
}

/** `0x` and 2 * `length` hex digits. */
export function parseFixedBytes(value: unknown, field: string, length: number): Buffer {
  if (typeof value !== "string" || value.length !== 2 + 2 * length)
    throw unexpected(field, value, `${length} bytes (0x and ${2 * length} hex digits)`);
  return parseBytes(value, field, length);
}

/** @returns `0x` and 40 digits in lower case */
export function parseAddress(value: unknown, field: string): string {
  if (typeof value === "string" && LOWER_ADDRESS.test(value)) return value;
  return `0x${parseFixedBytes(value, field, 20).toString("hex")}`;
}

/** `0x` and 1 to 64 hex digits: some nodes omit leading zeros. @returns `0x` and 64 digits in lower case */
export function parseWord(value: unknown, field: string): string {
  if (typeof value === "string" && LOWER_WORD.test(value)) return value;
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw unexpected(field, value, "a word (0x and 1 to 64 hex digits)");
  return `0x${value.slice(2).toLowerCase().padStart(64, "0")}`;
}

/** @returns undefined for a missing value, or null */
export function optional<Value>(value: unknown, parse: (value: unknown) => Value): Value | undefined {
  return (value ?? undefined) === undefined ? undefined : parse(value);
}

export function unexpected(field: string, value: unknown, rule: string): NodeFailure {
  return new NodeFailure(`${field}: expected ${rule}, got ${show(value)}`);
}

/** Does not print objects and arrays, which may be nested deeper than the stack allows. */
function show(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value) return "an object";
  const text = typeof value === "string" ? `"${value.slice(0, SHOWN_CHARACTERS + 1)}"` : `${value}`;
  return text.length > SHOWN_CHARACTERS + 2 ? `${text.slice(0, SHOWN_CHARACTERS)}..."` : text;
}
