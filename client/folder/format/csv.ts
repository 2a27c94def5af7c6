/**
 * CSV of RFC 4180: a line with the column names, then a line for each row. No value needs quotes.
 *
 *   leaf_index,address,nonce,balance,..
 *   2,0x..,,1,1000000000000000000,..
 */
import {damaged} from "../pulledError.ts";
import {decodeCell, encodeCell} from "../row/column.ts";
import type {AnyRow, Table} from "../row/tables.ts";
import {LineEncoder, readLines} from "./lines.ts";
import {encodeField, type PartFormat, parseRow} from "./partFormat.ts";

const LINE_END = "\r\n";

export const csv: PartFormat = {
  createEncoder(table, write) {
    const encodeRow = (row: AnyRow) =>
      table.columns.map(column => encodeField(column, row[column.key], encodeCell) ?? "").join(",") +
      LINE_END;
    return new LineEncoder(write, encodeRow, headOf(table) + LINE_END);
  },

  async *readRows(path, table) {
    const head = headOf(table);
    let number = -1;
    for await (const lines of readLines(path)) {
      const rows: AnyRow[] = [];
      for (const line of lines) {
        number++;
        if (number > 0) rows.push(parseLine(table, line, `${path}, row ${number}`));
        else if (line !== `${head}\r`)
          throw damaged(path, `expected the columns ${head}, got ${JSON.stringify(line.slice(0, 80))}`);
      }
      yield rows;
    }
    if (number < 0) throw damaged(path, "expected a line with the columns' names, got none");
  },
};

function headOf({columns}: Table): string {
  return columns.map(({name}) => name).join(",");
}

function parseLine(table: Table, line: string, place: string): AnyRow {
  const {columns} = table;
  const cells = line.endsWith("\r") ? line.slice(0, -1).split(",") : [];
  if (cells.length !== columns.length)
    throw damaged(place, `expected ${columns.length} cells and the end of a line, got ${cells.length}`);
  return parseRow(table, place, (_, at) => cells[at] || undefined, decodeCell);
}
