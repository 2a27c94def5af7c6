/**
 * NDJSON: a line of JSON for each row, with every column, in order.
 *
 *   {"leaf_index":2,"address":"0x..","nonce":"1","balance":"1000000000000000000",..}
 */
import {damaged} from "../pulledError.ts";
import {type ColumnKind, type ColumnValue, decodeCell, encodeCell} from "../row/column.ts";
import type {AnyRow, Column, Table} from "../row/tables.ts";
import {LineEncoder, readLines} from "./lines.ts";
import {encodeField, type PartFormat, parseRow} from "./partFormat.ts";

export const ndjson: PartFormat = {
  createEncoder({columns}, write) {
    const fieldOf = (row: AnyRow, column: Column) => {
      const text = encodeField(column, row[column.key], encodeCell) ?? "null";
      return `"${column.name}":${text === "null" || column.kind === "index" ? text : `"${text}"`}`;
    };
    return new LineEncoder(write, row => `{${columns.map(column => fieldOf(row, column)).join(",")}}\n`);
  },

  async *readRows(path, table) {
    let number = 0;
    for await (const lines of readLines(path))
      yield lines.map(line => parseLine(table, line, `${path}, row ${++number}`));
  },
};

function parseLine(table: Table, line: string, place: string): AnyRow {
  const fields = parseObject(line, place);
  const row = parseRow(table, place, ({name}) => fields[name] ?? undefined, parseValue);
  const extra = Object.keys(fields).find(name => table.columns.every(column => column.name !== name));
  if (extra !== undefined) throw damaged(place, `expected no column ${JSON.stringify(extra.slice(0, 40))}`);
  return row;
}

function parseObject(line: string, place: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below, without the parser's message.
  }
  throw damaged(place, "expected a JSON object");
}

function parseValue(kind: ColumnKind, value: unknown): ColumnValue {
  return decodeCell(kind, typeof value === (kind === "index" ? "number" : "string") ? String(value) : "");
}
