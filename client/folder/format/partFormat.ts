/** A file format of parts. */
import {damaged} from "../pulledError.ts";
import type {ColumnKind, ColumnValue} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";

export interface RowEncoder {
  /** Bytes so far, including an estimate for buffered rows. The same rows give the same number. */
  readonly bytes: number;
  /** @throws RangeError that names the column, for a value that it cannot have */
  add(row: AnyRow): void;
  /** Writes buffered rows and the end of the part. */
  end(): void;
}

export interface PartFormat {
  /** Takes the bytes of a part in order. The same rows give the same bytes. */
  createEncoder(table: Table, write: (bytes: Uint8Array) => void): RowEncoder;
  /** Rows in order, some at a time. Memory is bounded whatever the file has. @throws PulledError DAMAGED */
  readRows(path: string, table: Table): AsyncGenerator<readonly AnyRow[], void, void>;
}

/** @param encode - throws RangeError that says what is expected. @throws RangeError that also names the column */
export function encodeField<Encoded>(
  {name, kind, isOptional}: Column,
  value: ColumnValue | undefined,
  encode: (kind: ColumnKind, value: ColumnValue) => Encoded,
): Encoded | undefined {
  if (value === undefined && isOptional) return undefined;
  try {
    return encode(kind, value as ColumnValue);
  } catch (error) {
    throw new RangeError(`${name}: ${(error as Error).message}, got ${value}`);
  }
}

/** @param parse - throws RangeError that says what is expected. @throws PulledError that also names the place */
export function parseRow<Stored>(
  {columns}: Table,
  place: string,
  storedOf: (column: Column, at: number) => Stored | undefined,
  parse: (kind: ColumnKind, stored: Stored) => ColumnValue,
): AnyRow {
  const row: Record<string, ColumnValue | undefined> = {};
  for (const [at, column] of columns.entries()) {
    const stored = storedOf(column, at);
    const where = `${place}, ${column.name}`;
    if (stored === undefined && !column.isOptional) throw damaged(where, "expected a value, got none");
    try {
      row[column.key] = stored === undefined ? undefined : parse(column.kind, stored);
    } catch (error) {
      const got = stored instanceof Uint8Array ? `${stored.length} bytes` : String(stored).slice(0, 80);
      throw damaged(where, `${(error as Error).message}, got ${got}`);
    }
  }
  return row;
}
