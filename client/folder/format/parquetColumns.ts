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
import {BYTES, type ColumnKind, type ColumnValue, isValid, requireCell} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";
import {encodeField} from "./partFormat.ts";

/** A value in a file: integers as bigint. */
export type ParquetValue = bigint | Uint8Array | undefined;

export interface ParquetColumn {
  readonly element: SchemaElement;
  /** Of a value in the file, approximately. */
  readonly bytes: number;
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
    const {name, kind} = column;
    const repetition_type = column.isOptional || kind === "amount" ? "OPTIONAL" : "REQUIRED";
    const create = (
      element: Partial<SchemaElement>,
      bytes: number,
      encode: (cell: ColumnValue) => ParquetValue = cell => cell as Uint8Array,
    ): ParquetColumn => ({
      element: {name, ...element, repetition_type},
      bytes,
      encode: row =>
        encodeField(column, row[column.key], (_, cell) => {
          requireCell(kind, cell !== undefined && isValid(kind, cell));
          return encode(cell);
        }),
    });
    const fixed = (type_length: number) => ({type: "FIXED_LEN_BYTE_ARRAY", type_length}) as const;
    if (kind === "index") return create({type: "INT64"}, 8, cell => BigInt(cell as number));
    if (kind === "count")
      return create({type: "INT64", converted_type: "UINT_64"}, 8, cell => cell as bigint);
    if (kind === "bytes") return create({type: "BYTE_ARRAY"}, LONG_BYTES);
    if (kind === "word") return create(fixed(WORD_BYTES), WORD_BYTES, cell => encodeWord(cell as bigint));
    const length = BYTES[kind];
    if (length !== undefined) return create(fixed(length), length);
    const decimal = {converted_type: "DECIMAL", precision: DECIMAL_DIGITS, scale: 0} as const;
    const isLarge = (cell: ColumnValue) => (cell as bigint) >= DECIMAL_END;
    return [
      create({...fixed(DECIMAL_BYTES), ...decimal}, DECIMAL_BYTES, cell =>
        isLarge(cell) ? undefined : (cell as bigint),
      ),
      create({...fixed(WORD_BYTES), name: name + LARGE}, 0, cell =>
        isLarge(cell) ? encodeWord(cell as bigint) : undefined,
      ),
    ];
  });
}

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

function encodeWord(value: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(2 * WORD_BYTES, "0"), "hex"));
}
