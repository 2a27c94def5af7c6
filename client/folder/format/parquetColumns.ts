/**
 * Columns of tables as columns of Parquet:
 *
 *   index     INT64
 *   count     INT64 as UINT_64
 *   amount    FIXED_LEN_BYTE_ARRAY(16) as DECIMAL(38), null from 10^38 on; and, in NAME_large, FIXED_LEN_BYTE_ARRAY(32), null below
 *   word      FIXED_LEN_BYTE_ARRAY(32), big-endian
 *   address   FIXED_LEN_BYTE_ARRAY(20)
 *   hash      FIXED_LEN_BYTE_ARRAY(32)
 *   bytes     BYTE_ARRAY
 */
import type {SchemaElement} from "hyparquet";
import {bytesOf, type ColumnKind, type ColumnValue, isHeld, requireCell} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";

/** What a file holds: integers as bigint. */
export type ParquetValue = bigint | Uint8Array | undefined;

/** A column of the file. */
export interface ParquetColumn {
  readonly element: SchemaElement;
  /** About that in the file, of a value. */
  readonly bytes: number;
  /** @throws RangeError that names the column */
  encode(row: AnyRow): ParquetValue;
}

const DECIMAL_BYTES = 16;
const DECIMAL_DIGITS = 38;
const DECIMAL_END = 10n ** BigInt(DECIMAL_DIGITS);
const WORD_BYTES = 32;
/** Of what has no fixed length: proofs of some thousand bytes for each key. */
const LONG_BYTES = 1 << 18;
/** Of the column beside an amount that holds what DECIMAL(38) does not. */
const LARGE = "_large";

export function parquetColumns({columns}: Table): ParquetColumn[] {
  return columns.flatMap(column => {
    if (column.kind !== "amount") return [createColumn(column)];
    const encode = (isLarge: boolean, length: number) => (row: AnyRow) => {
      const amount = readCell(column, row) as bigint | undefined;
      if (amount === undefined || amount >= DECIMAL_END !== isLarge) return undefined;
      return isLarge ? encodeWord(amount, length) : amount;
    };
    return [
      {
        element: {
          ...elementOf(column.name, "FIXED_LEN_BYTE_ARRAY", true, DECIMAL_BYTES),
          ...{converted_type: "DECIMAL" as const, precision: DECIMAL_DIGITS, scale: 0},
        },
        bytes: DECIMAL_BYTES,
        encode: encode(false, DECIMAL_BYTES),
      },
      {
        element: elementOf(column.name + LARGE, "FIXED_LEN_BYTE_ARRAY", true, WORD_BYTES),
        bytes: 0,
        encode: encode(true, WORD_BYTES),
      },
    ];
  });
}

/** What a row of the file has for the column. undefined: nothing. */
export function readHeld(
  {kind, name}: Column,
  row: Readonly<Record<string, unknown>>,
): bigint | Uint8Array | undefined {
  const held = row[name] ?? (kind === "amount" ? row[name + LARGE] : undefined) ?? undefined;
  return held as bigint | Uint8Array | undefined;
}

/** @throws RangeError that says what is expected */
export function parseValue(kind: ColumnKind, held: bigint | Uint8Array): ColumnValue {
  if (typeof held === "bigint") {
    const value = kind === "index" ? Number(held) : BigInt.asUintN(64, held);
    requireCell(kind, isHeld(kind, value));
    return value;
  }
  const isNumber = kind === "word" || kind === "amount";
  requireCell(
    kind,
    held instanceof Uint8Array && (isNumber || kind === "bytes" || held.length === bytesOf(kind)),
  );
  return isNumber ? BigInt(`0x${Buffer.from(held).toString("hex")}`) : new Uint8Array(held);
}

function createColumn(column: Column): ParquetColumn {
  const {name, kind, isOptional} = column;
  const cell = (row: AnyRow) => readCell(column, row);
  if (kind === "index" || kind === "count") {
    const element = elementOf(name, "INT64", isOptional);
    const isSigned = kind === "index";
    return {
      element: isSigned ? element : {...element, converted_type: "UINT_64"},
      bytes: 8,
      encode: row => {
        const value = cell(row) as number | bigint | undefined;
        return value === undefined ? undefined : BigInt(value);
      },
    };
  }
  if (kind === "bytes")
    return {
      element: elementOf(name, "BYTE_ARRAY", isOptional),
      bytes: LONG_BYTES,
      encode: row => cell(row) as Uint8Array | undefined,
    };
  const length = bytesOf(kind) ?? WORD_BYTES;
  return {
    element: elementOf(name, "FIXED_LEN_BYTE_ARRAY", isOptional, length),
    bytes: length,
    encode: row => {
      const value = cell(row) as bigint | Uint8Array | undefined;
      return typeof value === "bigint" ? encodeWord(value, length) : value;
    },
  };
}

/** @throws RangeError that names the column */
function readCell({name, kind, key, isOptional}: Column, row: AnyRow): ColumnValue | undefined {
  const value = row[key];
  if (value === undefined && isOptional) return undefined;
  const isRight =
    typeof value === "object"
      ? kind === "bytes" || value.length === bytesOf(kind)
      : value !== undefined && isHeld(kind, value);
  try {
    requireCell(kind, isRight);
  } catch (error) {
    throw new RangeError(`${name}: ${(error as Error).message}, got ${value}`);
  }
  return value;
}

function elementOf(
  name: string,
  type: "INT64" | "FIXED_LEN_BYTE_ARRAY" | "BYTE_ARRAY",
  isOptional: boolean,
  length?: number,
): SchemaElement {
  const repetition_type = isOptional ? "OPTIONAL" : "REQUIRED";
  return {name, type, repetition_type, ...(length === undefined ? {} : {type_length: length})};
}

function encodeWord(value: bigint, length: number): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * length, "0"), "hex"));
}
