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
import {bytesOf, type ColumnKind, type ColumnValue, isValid, requireCell} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";
import {encodeField} from "./partFormat.ts";

/** A value in a file: integers as bigint. */
export type ParquetValue = bigint | Uint8Array | undefined;

/** A column of the file. */
export interface ParquetColumn {
  readonly element: SchemaElement;
  /** Of a value in the file, approximately. */
  readonly bytes: number;
  /** @throws RangeError that names the column */
  encode(row: AnyRow): ParquetValue;
}

const DECIMAL_BYTES = 16;
const DECIMAL_DIGITS = 38;
const DECIMAL_END = 10n ** BigInt(DECIMAL_DIGITS);
const WORD_BYTES = 32;
/** Of a value without fixed length: proofs have some thousand bytes for each key. */
const LONG_BYTES = 1 << 18;
/** Ends the name of the column for amounts that do not fit DECIMAL(38). */
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

/** @returns the value of the column in a row of the file */
export function readStored({kind, name}: Column, row: Readonly<Record<string, unknown>>): ParquetValue {
  return (row[name] ?? (kind === "amount" ? row[name + LARGE] : undefined) ?? undefined) as ParquetValue;
}

/** @throws RangeError that says what is expected */
export function parseValue(kind: ColumnKind, stored: bigint | Uint8Array): ColumnValue {
  if (typeof stored === "bigint") {
    const value = kind === "index" ? Number(stored) : BigInt.asUintN(64, stored);
    requireCell(kind, isValid(kind, value));
    return value;
  }
  const isNumber = kind === "word" || kind === "amount";
  requireCell(kind, stored instanceof Uint8Array && (isNumber || isValid(kind, stored)));
  return isNumber ? BigInt(`0x${Buffer.from(stored).toString("hex")}`) : new Uint8Array(stored);
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
function readCell(column: Column, row: AnyRow): ColumnValue | undefined {
  const value = row[column.key];
  return encodeField(column, value, (kind, present) => {
    requireCell(kind, present !== undefined && isValid(kind, present));
    return present;
  });
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
