/** Parses values of geth's genesis file. `field` is the path of the value in the file, which errors name. */
import {count} from "../../storage/count.ts";
import {ExecutionError} from "./executionError.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function invalidGenesis(field: string, rule: string): ExecutionError {
  return new ExecutionError("GENESIS_INVALID", `genesis: ${field} ${rule}`);
}

function wrong(field: string, expected: string, value: unknown): ExecutionError {
  const shown = typeof value === "bigint" ? String(value) : JSON.stringify(value);
  return invalidGenesis(`${field}:`, `expected ${expected}, got ${shown?.slice(0, 100)}`);
}

/** A string, or an integer that a double may not represent exactly. No quantity has more than 78 digits. */
const TEXT_OR_LARGE = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|(?<![\d.eE+-])\d{16,78}(?![\d.eE])/g;
/** A string that stands for an integer. No field accepts a string that begins with NUL. */
const MARKED = /^\0(\d+)$/;

/** JSON.parse, but integers of 16 digits and more become bigint: geth reads them exactly. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  // Most files have no such integer, and JSON.parse is enough.
  if (!/(?:^|[:,[\s])\d{16}/.test(text)) return JSON.parse(text);
  const marked = text.replace(TEXT_OR_LARGE, token => (token.startsWith('"') ? token : `"\\u0000${token}"`));
  return JSON.parse(marked, (_, value) => {
    const digits = typeof value === "string" ? MARKED.exec(value)?.[1] : undefined;
    return digits === undefined ? value : BigInt(digits);
  });
}

/** The inverse of parseExactJson, but a bigint becomes a string, which parseQuantity accepts. */
export function encodeExactJson(value: unknown): string {
  return JSON.stringify(value, (_, member) => (typeof member === "bigint" ? String(member) : member));
}

/** Names of members by their lower-case spelling. Several spellings may stand for one name. */
type MemberNames = ReadonlyMap<string, string>;

/** @param others - alternative spellings, and the names that they stand for */
export function listNames(
  names: readonly string[],
  others: Readonly<Record<string, string>> = {},
): MemberNames {
  const all = [...names.map(name => [name, name] as const), ...Object.entries(others)];
  return new Map(all.map(([spelling, name]) => [spelling.toLowerCase(), name]));
}

/** As in geth, names are case-insensitive, and null means absent. @param path - "", or with a trailing dot */
export function readMembers(
  object: JsonObject,
  path: string,
  names: MemberNames,
  onUnknown: (name: string, value: unknown) => void = () => {},
): JsonObject {
  const members: Record<string, unknown> = {};
  for (const [spelling, value] of Object.entries(object)) {
    if (value === null) continue;
    const name = names.get(spelling.toLowerCase());
    if (name === undefined) onUnknown(spelling, value);
    else if (members[name] === undefined) members[name] = value;
    else if (members[name] !== value)
      throw invalidGenesis(`${path}${spelling}:`, `expected ${name} once, got it again with another value`);
  }
  return members;
}

/** As readMembers, but refuses unknown names. */
export function readOnlyMembers(object: JsonObject, path: string, names: MemberNames): JsonObject {
  return readMembers(object, path, names, spelling => {
    throw invalidGenesis(`${path}${spelling}`, `is not known: expected ${[...names.values()].join(", ")}`);
  });
}

export function parseObject(value: unknown, field: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrong(field, "an object", value);
  return value as JsonObject;
}

/** geth's HexOrDecimal256 and HexOrDecimal64: "0x1f", "31", "" (zero) or 31. */
export function parseQuantity(value: unknown, field: string, bits: number): bigint {
  const quantity = readQuantity(value, field);
  if (quantity >= 1n << BigInt(bits)) throw wrong(field, `a number below 2^${bits}`, value);
  return quantity;
}

function readQuantity(value: unknown, field: string): bigint {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value) || value < 0) throw wrong(field, "a whole number in digits", value);
    return BigInt(value);
  }
  if (typeof value !== "string" || !/^(0[xX][0-9a-fA-F]+|[0-9]*)$/.test(value))
    throw wrong(field, "a quantity, hex with 0x or decimal", value);
  return BigInt(value);
}

/** "0x" and an even number of hex digits, or "". */
export function parseBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX]([0-9a-fA-F]{2})*)?$/.test(value))
    throw wrong(field, "hex bytes with 0x", value);
  return new Uint8Array(Buffer.from(value.slice(2), "hex"));
}

export function parseFixedBytes(value: unknown, field: string, length: number): Uint8Array {
  const bytes = parseBytes(value, field);
  if (bytes.length !== length) throw wrong(field, count(length, "byte"), value);
  return bytes;
}

/** The keys of `alloc`: 40 hex digits, with or without 0x. */
export function parseAddress(value: string, field: string): Uint8Array {
  if (!/^(0[xX])?[0-9a-fA-F]{40}$/.test(value)) throw wrong(field, "an address of 20 bytes", value);
  return new Uint8Array(Buffer.from(value.slice(-40), "hex"));
}

/** A slot or its value: up to 32 bytes of hex, padded with zeros on the left. */
export function parseWord(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX])?[0-9a-fA-F]{0,64}$/.test(value))
    throw wrong(field, "hex of up to 32 bytes", value);
  return new Uint8Array(Buffer.from(value.replace(/^0[xX]/, "").padStart(64, "0"), "hex"));
}
