/**
 * The values of a block difference line, from JSON (docs/operations.md, "Import"). Errors name the field and what is expected.
 */
import type {AccountChange, SlotDifference} from "../../storage/block/accountDifference.ts";
import {describeMismatch} from "../../sync/rpc/answerValues.ts";
import {SourceError} from "./sourceBlock.ts";

const ACCOUNT_FIELDS = new Set(["nonce", "balance", "code", "storage", "reset"]);

/** `0x` and 1 to 64 hex digits. */
export function parseQuantity(value: unknown, field: string, bits: number): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw expected(field, value, "a quantity (0x and 1 to 64 hex digits)");
  const quantity = BigInt(value);
  if (quantity >= 1n << BigInt(bits)) throw expected(field, value, `a quantity below 2^${bits}`);
  return quantity;
}

/** `0x` and pairs of hex digits. @param length - in bytes; undefined: any */
export function parseBytes(value: unknown, field: string, length?: number): Buffer {
  const rule =
    length === undefined
      ? "bytes (0x and pairs of hex digits)"
      : `${length} bytes (0x and ${2 * length} hex digits)`;
  if (typeof value !== "string" || !value.startsWith("0x") || value.length % 2 !== 0)
    throw expected(field, value, rule);
  const bytes = Buffer.from(value.slice(2), "hex");
  if (bytes.length !== value.length / 2 - 1 || (length !== undefined && bytes.length !== length))
    throw expected(field, value, rule);
  return bytes;
}

/** A block number, which must fit a u48. */
export function parseNumber(value: unknown, field: string): number {
  return Number(parseQuantity(value, field, 48));
}

/** @param field - names the account in messages. @returns undefined: the account is deleted */
export function parseAccountChange(value: unknown, field: string): AccountChange | undefined {
  if (value === null) return undefined;
  const fields = parseObject(value, field);
  for (const name of Object.keys(fields))
    if (!ACCOUNT_FIELDS.has(name))
      throw new SourceError(
        `${field}: expected the fields ${[...ACCOUNT_FIELDS].join(", ")}, got ${JSON.stringify(name)}`,
      );
  const {nonce, balance, code, storage, reset} = fields;
  if (reset !== undefined && typeof reset !== "boolean")
    throw expected(`${field}.reset`, reset, "true or false");
  return {
    reset: reset === true,
    ...(nonce === undefined ? {} : {nonce: parseQuantity(nonce, `${field}.nonce`, 64)}),
    ...(balance === undefined ? {} : {balance: parseQuantity(balance, `${field}.balance`, 256)}),
    ...(code === undefined ? {} : {code: parseBytes(code, `${field}.code`)}),
    ...(storage === undefined ? {} : {storage: parseStorage(storage, `${field}.storage`)}),
  };
}

function parseStorage(value: unknown, field: string): SlotDifference[] {
  return Object.entries(parseObject(value, field)).map(([slot, word]) => ({
    slot: parseWord(slot, `a slot of ${field}`),
    value: parseWord(word, `${field}[${slot}]`),
  }));
}

/** `0x` and 1 to 64 hex digits, as 32 bytes. */
function parseWord(value: unknown, field: string): Buffer {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw expected(field, value, "a word (0x and 1 to 64 hex digits)");
  return Buffer.from(value.slice(2).padStart(64, "0"), "hex");
}

export function parseObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw expected(field, value, "an object");
  return value as Record<string, unknown>;
}

function expected(field: string, value: unknown, rule: string): SourceError {
  return new SourceError(describeMismatch(field, value, rule));
}
