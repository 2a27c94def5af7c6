/**
 * Columns of tables: which values they hold, and their text in NDJSON and CSV.
 *
 *   kind      value                      text                  in NDJSON
 *   index     number, below 2^48         decimal               a number
 *   count     bigint, below 2^64         decimal               text
 *   amount    bigint, below 2^256        decimal               text
 *   word      bigint, below 2^256        0x and 64 digits      text
 *   address   20 bytes                   0x and 40 digits      text
 *   hash      32 bytes                   0x and 64 digits      text
 *   bytes     any number of bytes        0x and digits         text
 *
 * An absent value is null in NDJSON and empty in CSV.
 */

export interface ColumnValues {
  readonly index: number;
  readonly count: bigint;
  readonly amount: bigint;
  readonly word: bigint;
  readonly address: Uint8Array;
  readonly hash: Uint8Array;
  readonly bytes: Uint8Array;
}

export type ColumnKind = keyof ColumnValues;
export type ColumnValue = ColumnValues[ColumnKind];

export const MAX_INDEX = 2 ** 48 - 1;
/** Bytes of each value of a kind. */
export const BYTES: Readonly<Partial<Record<ColumnKind, number>>> = {address: 20, hash: 32};
const BITS = {count: 64n, amount: 256n, word: 256n} as const;
const EXPECTED: Readonly<Record<ColumnKind, string>> = {
  index: "a whole number below 2^48",
  count: "decimal digits of a number below 2^64",
  amount: "decimal digits of a number below 2^256",
  word: "0x and 64 lower-case hex digits",
  address: "0x and 40 lower-case hex digits",
  hash: "0x and 64 lower-case hex digits",
  bytes: "0x and lower-case hex of whole bytes",
};

/** @throws RangeError for a value that the kind cannot have */
export function encodeCell(kind: ColumnKind, value: ColumnValue): string {
  requireCell(kind, isValid(kind, value));
  if (typeof value === "object")
    return `0x${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}`;
  return kind === "word" ? `0x${value.toString(16).padStart(64, "0")}` : value.toString();
}

/** @throws RangeError that says what is expected */
export function decodeCell(kind: ColumnKind, text: string): ColumnValue {
  if (kind === "index") {
    const index = /^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : Number.NaN;
    requireCell(kind, index <= MAX_INDEX);
    return index;
  }
  if (kind === "count" || kind === "amount") {
    requireCell(kind, /^(0|[1-9][0-9]{0,77})$/.test(text));
    const number = BigInt(text);
    requireCell(kind, isValid(kind, number));
    return number;
  }
  requireCell(kind, text.length % 2 === 0 && /^0x[0-9a-f]*$/.test(text));
  if (kind === "word") {
    requireCell(kind, text.length === 66);
    return BigInt(text);
  }
  const bytes = new Uint8Array(Buffer.from(text.slice(2), "hex"));
  requireCell(kind, isValid(kind, bytes));
  return bytes;
}

export function isValid(kind: ColumnKind, value: ColumnValue): boolean {
  if (typeof value === "object") return kind === "bytes" || value.length === BYTES[kind];
  if (kind === "index") return Number.isInteger(value) && value >= 0 && value <= MAX_INDEX;
  const bits = BITS[kind as keyof typeof BITS];
  return bits !== undefined && typeof value === "bigint" && value >= 0n && value >> bits === 0n;
}

export function requireCell(kind: ColumnKind, isRight: boolean): void {
  if (!isRight) throw new RangeError(`expected ${EXPECTED[kind]}`);
}
