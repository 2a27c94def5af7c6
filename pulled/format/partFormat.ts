/** A way to write the rows of a part into a file. */
import type {AnyRow, Table} from "../row/tables.ts";

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
