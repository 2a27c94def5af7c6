/**
 * The value forms of geth's genesis file: quantities in hex or decimal, bytes, addresses with or without 0x.
 *
 * `field` is the path of the value in the file; every error names it.
 */
import {ExecutionError} from "./executionError.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function invalidGenesis(field: string, rule: string): ExecutionError {
  return new ExecutionError("GENESIS_INVALID", `genesis: ${field} ${rule}`);
}

function wrong(field: string, expected: string, value: unknown): ExecutionError {
  return invalidGenesis(`${field}:`, `expected ${expected}, got ${JSON.stringify(value)?.slice(0, 100)}`);
}

export function parseObject(value: unknown, field: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw wrong(field, "an object", value);
  return value as JsonObject;
}

/** geth's HexOrDecimal256 and HexOrDecimal64: "0x1f", "31", "" (zero) or 31. */
export function parseQuantity(value: unknown, field: string, bits: number): bigint {
  if (typeof value === "number") {
    // Beyond 2^53 JSON.parse has already changed the number.
    if (!Number.isSafeInteger(value) || value < 0)
      throw wrong(field, "a whole number, from 2^53 on written as text", value);
    return BigInt(value);
  }
  if (typeof value !== "string" || !/^(0[xX][0-9a-fA-F]*|[0-9]*)$/.test(value))
    throw wrong(field, "a quantity, hex with 0x or decimal", value);
  const quantity = /^(0[xX])?$/.test(value) ? 0n : BigInt(value);
  if (quantity >= 1n << BigInt(bits)) throw wrong(field, `a number below 2^${bits}`, value);
  return quantity;
}

/** "0x" and an even number of hex digits; also "". */
export function parseBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX]([0-9a-fA-F]{2})*)?$/.test(value))
    throw wrong(field, "hex bytes with 0x", value);
  return new Uint8Array(Buffer.from(value.slice(2), "hex"));
}

export function parseFixedBytes(value: unknown, field: string, length: number): Uint8Array {
  const bytes = parseBytes(value, field);
  if (bytes.length !== length) throw wrong(field, `${length} bytes`, value);
  return bytes;
}

/** The keys of `alloc`: 40 hex digits, with or without 0x. */
export function parseAddress(value: string, field: string): Uint8Array {
  if (!/^(0[xX])?[0-9a-fA-F]{40}$/.test(value)) throw wrong(field, "an address of 20 bytes", value);
  return new Uint8Array(Buffer.from(value.slice(-40), "hex"));
}

/** Slots and their values: up to 32 bytes of hex, filled with zeros on the left. */
export function parseWord(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX])?[0-9a-fA-F]{0,64}$/.test(value))
    throw wrong(field, "hex of up to 32 bytes", value);
  return new Uint8Array(Buffer.from(value.replace(/^0[xX]/, "").padStart(64, "0"), "hex"));
}
