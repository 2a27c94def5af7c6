/**
 * The value forms of geth's genesis file: quantities in hex or decimal, bytes, addresses with or without 0x.
 *
 * `field` is the path of the value in the file; every error names it.
 */
import {ExecutionError} from "./errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function invalidGenesis(field: string, rule: string): ExecutionError {
  return new ExecutionError("GENESIS_INVALID", `genesis: ${field} ${rule}`);
}

export function parseObject(value: unknown, field: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalidGenesis(field, "must be an object");
  return value as JsonObject;
}

/** geth's HexOrDecimal256 and HexOrDecimal64: "0x1f", "31", "" (zero) or 31. */
export function parseQuantity(value: unknown, field: string, bits: number): bigint {
  if (typeof value === "number") {
    // Beyond 2^53 JSON.parse has already changed the number.
    if (!Number.isSafeInteger(value) || value < 0)
      throw invalidGenesis(field, "must be a whole number; from 2^53 on write it as text");
    return BigInt(value);
  }
  if (typeof value !== "string" || !/^(0[xX][0-9a-fA-F]*|[0-9]*)$/.test(value))
    throw invalidGenesis(field, "must be a quantity: hex with 0x, or decimal");
  const quantity = /^(0[xX])?$/.test(value) ? 0n : BigInt(value);
  if (quantity >= 1n << BigInt(bits)) throw invalidGenesis(field, `must be less than 2^${bits}`);
  return quantity;
}

/** "0x" and an even number of hex digits; also "". */
export function parseBytes(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX]([0-9a-fA-F]{2})*)?$/.test(value))
    throw invalidGenesis(field, "must be hex bytes with 0x");
  return new Uint8Array(Buffer.from(value.slice(2), "hex"));
}

export function parseFixedBytes(value: unknown, field: string, length: number): Uint8Array {
  const bytes = parseBytes(value, field);
  if (bytes.length !== length) throw invalidGenesis(field, `must have ${length} bytes, has ${bytes.length}`);
  return bytes;
}

/** The keys of `alloc`: 40 hex digits, with or without 0x. */
export function parseAddress(value: string, field: string): Uint8Array {
  if (!/^(0[xX])?[0-9a-fA-F]{40}$/.test(value)) throw invalidGenesis(field, "must be an address of 20 bytes");
  return new Uint8Array(Buffer.from(value.slice(-40), "hex"));
}

/** Slots and their values: up to 32 bytes of hex, filled with zeros on the left. */
export function parseWord(value: unknown, field: string): Uint8Array {
  if (typeof value !== "string" || !/^(0[xX])?[0-9a-fA-F]{0,64}$/.test(value))
    throw invalidGenesis(field, "must be hex of up to 32 bytes");
  return new Uint8Array(Buffer.from(value.replace(/^0[xX]/, "").padStart(64, "0"), "hex"));
}
