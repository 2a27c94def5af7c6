/** Validates what a manifest or a journal says: paths stay within the folder, and all tables are verified. */

import type {FormatName} from "./format/formatName.ts";
import {type Part, partName} from "./partFile.ts";
import {MAX_INDEX} from "./row/column.ts";
import type {TableName} from "./row/tables.ts";

/** What a pull is about: the same for the pull that begins a folder and for those that resume it. */
export interface AskedPull {
  readonly suite: "sha256" | "poseidon2";
  readonly format: FormatName;
  readonly pulled: "accounts" | "storage" | "all" | "keys" | "changes";
  /** Of "storage": the accounts, in lower case. Of "keys": nothing. */
  readonly addresses?: readonly string[] | undefined;
  /** Of "keys": the sha-256 of the file with the keys, `0x` text. */
  readonly keys?: string | undefined;
  /** Of "changes": the block before, and its trusted root. */
  readonly fromBlock?: number | undefined;
  readonly fromRoot?: string | undefined;
  readonly block: number;
  /** The trusted root, `0x` text. */
  readonly stateRoot: string;
}

/** Which tables a pull writes. No proof would cover rows of other tables. */
const TABLES_OF: Readonly<Record<AskedPull["pulled"], readonly TableName[]>> = {
  all: ["accounts", "trees", "slots", "codes"],
  accounts: ["accounts"],
  storage: ["accounts", "absent", "trees", "slots", "proofs"],
  keys: ["accounts", "absent", "values", "proofs"],
  changes: ["account_changes", "slot_changes", "proofs"],
};
export const PULLED_NAMES = Object.keys(TABLES_OF);

/** @throws Error that says what is wrong, for anything but parts of such a pull, each table's in order */
export function requireParts(parts: unknown, {format, pulled}: AskedPull): asserts parts is readonly Part[] {
  if (!Array.isArray(parts)) throw new Error("parts: expected an array");
  const numbers = new Map<TableName, number>();
  for (const [at, part] of (parts as readonly Part[]).entries()) {
    const place = `parts[${at}]`;
    const {table} = requireObject(place, part);
    requireOne(`${place}.table`, table, TABLES_OF[pulled]);
    const number = (numbers.get(table) ?? 0) + 1;
    numbers.set(table, number);
    // This also keeps paths out.
    requireOne(`${place}.file`, part.file, [partName(table, number, format)]);
    requireIndex(`${place}.rows`, part.rows);
    requireIndex(`${place}.bytes`, part.bytes);
    requireHash(`${place}.sha256`, part.sha256);
  }
}

export function countRows(parts: readonly Part[]): Partial<Record<TableName, number>> {
  const rows: Partial<Record<TableName, number>> = {};
  for (const {table, rows: count} of parts) rows[table] = (rows[table] ?? 0) + count;
  return rows;
}

export function requireObject<Value>(name: string, value: Value): Value {
  if (typeof value === "object" && value !== null) return value;
  throw new Error(`${name}: expected an object`);
}

export function requireOne(name: string, value: unknown, known: readonly string[]): void {
  if (known.includes(value as string)) return;
  throw new Error(`${name}: expected ${known.join(" or ")}, got ${JSON.stringify(value)}`);
}

export function requireIndex(name: string, value: unknown): void {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_INDEX) return;
  throw new Error(`${name}: expected a whole number, got ${JSON.stringify(value)}`);
}

export function requireHash(name: string, value: unknown): void {
  if (typeof value === "string" && /^0x[0-9a-f]{64}$/.test(value)) return;
  throw new Error(`${name}: expected 0x and 64 lower-case hex digits, got ${JSON.stringify(value)}`);
}
