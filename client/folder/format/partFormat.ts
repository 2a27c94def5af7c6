/** A way to write the rows of a part into a file. */
import {damaged} from "../pulledError.ts";
import {type ColumnKind, type ColumnValue, encodeCell} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";

export interface RowEncoder {
  /** Bytes so far, with about those of the rows that wait. The same rows give the same number. */
  readonly bytes: number;
  /** @throws RangeError that names the column, for a value that it does not hold */
  add(row: AnyRow): void;
  /** Writes what waits, and the end of the part. */
  end(): void;
}

export interface PartFormat {
  /** Takes the bytes of a part in order. The same rows give the same bytes. */
  createEncoder(table: Table, write: (bytes: Uint8Array) => void): RowEncoder;
  /**
   * Some rows at a time, in order. Memory is bounded whatever the file holds.
   *
   * @throws PulledError DAMAGED that names the file and the row
   */
  readRows(path: string, table: Table): AsyncGenerator<readonly AnyRow[], void, void>;
}

/** @returns the value's text; undefined for none. @throws RangeError that names the column */
export function encodeField(
  {name, kind, isOptional}: Column,
  value: ColumnValue | undefined,
): string | undefined {
  if (value === undefined && isOptional) return undefined;
  try {
    return encodeCell(kind, value as ColumnValue);
  } catch (error) {
    throw new RangeError(`${name}: ${(error as Error).message}, got ${value}`);
  }
}

/**
 * @param held - as the file has it; undefined for none
 * @param parse - throws RangeError that says what is expected
 * @throws PulledError that names the place and the column
 */
export function parseField<Held>(
  {name, kind, isOptional}: Column,
  held: Held | undefined,
  place: string,
  parse: (kind: ColumnKind, held: Held) => ColumnValue,
): ColumnValue | undefined {
  let problem = "expected a value, got none";
  try {
    if (held !== undefined) return parse(kind, held);
    if (isOptional) return undefined;
  } catch (error) {
    const got = held instanceof Uint8Array ? `${held.length} bytes` : String(held).slice(0, 80);
    problem = `${(error as Error).message}, got ${got}`;
  }
  throw damaged(`${place}, ${name}`, problem);
}
