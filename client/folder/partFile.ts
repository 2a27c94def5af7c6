/**
 * A part: a file with rows of one table. It is renamed to its final name when it is complete and synced.
 *
 *   accounts-000001.ndjson.partial  ->  written, synced  ->  accounts-000001.ndjson
 */

import {createHash} from "node:crypto";
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import {join} from "node:path";
import {count} from "../bytes/values.ts";
import {csv} from "./format/csv.ts";
import type {FormatName} from "./format/formatName.ts";
import {ndjson} from "./format/ndjson.ts";
import {parquet} from "./format/parquet.ts";
import type {PartFormat, RowEncoder} from "./format/partFormat.ts";
import {damaged, nameFile, withFile} from "./pulledError.ts";
import {type AnyRow, TABLES, type TableName} from "./row/tables.ts";

export interface Part {
  readonly file: string;
  readonly table: TableName;
  readonly rows: number;
  readonly bytes: number;
  /** `0x` text. */
  readonly sha256: string;
}

/** @param number - from 1, in each table */
export function partName(table: TableName, number: number, format: FormatName): string {
  return `${TABLES[table].name}-${String(number).padStart(6, "0")}.${format}`;
}

export const PARTIAL = ".partial";

export class PartFile {
  private readonly path: string;
  private readonly fd: number;
  private readonly hash = createHash("sha256");
  private readonly encoder: RowEncoder;
  rows = 0;
  private bytesWritten = 0;
  private isOpen = true;

  /** @throws PulledError FILE_FAILED, as all methods */
  constructor(
    private readonly folder: string,
    private readonly table: TableName,
    private readonly file: string,
    format: FormatName,
  ) {
    this.path = join(folder, `${file}${PARTIAL}`);
    this.fd = withFile(this.path, "write", () => {
      // Anything of that name, such as a link to another file, is not followed.
      rmSync(this.path, {force: true});
      return openSync(this.path, "wx");
    });
    this.encoder = FORMATS[format].createEncoder(TABLES[table], bytes => this.write(bytes));
  }

  get bytes(): number {
    return this.encoder.bytes;
  }

  add(row: AnyRow): void {
    this.encoder.add(row);
    this.rows++;
  }

  /** Ends the part and gives it its name, followed by `suffix`. The caller syncs the folder. */
  finish(suffix = ""): Part {
    this.encoder.end();
    withFile(this.path, "write", () => fsyncSync(this.fd));
    this.close();
    const {folder, file, table, rows, bytesWritten: bytes} = this;
    withFile(this.path, "write", () => renameSync(this.path, join(folder, file + suffix)));
    return {file, table, rows, bytes, sha256: `0x${this.hash.digest("hex")}`};
  }

  discard(): void {
    if (!this.isOpen) return;
    this.close();
    rmSync(this.path, {force: true});
  }

  private close(): void {
    this.isOpen = false;
    closeSync(this.fd);
  }

  private write(bytes: Uint8Array): void {
    this.hash.update(bytes);
    withFile(this.path, "write", () => {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.fd, bytes, at);
    });
    this.bytesWritten += bytes.length;
  }
}

/** Checks the length and digest of a part. @throws PulledError DAMAGED */
export async function checkPart(folder: string, {file, bytes, sha256}: Part): Promise<void> {
  const path = join(folder, file);
  const hash = createHash("sha256");
  let length = 0;
  const isFile = withFile(path, "read", () => statSync(path).isFile());
  // A pipe or a device may never end.
  if (!isFile) throw damaged(path, "expected a file");
  try {
    for await (const chunk of createReadStream(path, {highWaterMark: 1 << 20})) {
      length += (chunk as Buffer).length;
      if (length > bytes) break;
      hash.update(chunk as Buffer);
    }
  } catch (error) {
    throw nameFile(path, "read", error);
  }
  if (length !== bytes)
    throw damaged(path, `expected ${bytes} bytes, got ${length > bytes ? "more" : length}`);
  const digest = `0x${hash.digest("hex")}`;
  if (digest !== sha256) throw damaged(path, `expected the sha-256 ${sha256}, got ${digest}`);
}

/**
 * Other readers use more of a file than its rows: statistics, the order of fields, one of two fields of the same name.
 * So a part must have exactly the bytes that its rows encode to.
 *
 * @throws PulledError DAMAGED
 */
export async function checkEncoding(folder: string, part: Part, format: FormatName): Promise<void> {
  const hash = createHash("sha256");
  const encoder = FORMATS[format].createEncoder(TABLES[part.table], bytes => hash.update(bytes));
  for await (const rows of readPart(folder, part, format)) for (const row of rows) encoder.add(row);
  encoder.end();
  if (`0x${hash.digest("hex")}` !== part.sha256)
    throw damaged(join(folder, part.file), "expected the bytes that its rows encode to, got others");
}

/** Checks a part and reads its rows, some at a time. @throws PulledError DAMAGED, also for a wrong number of rows */
export async function* readPart(
  folder: string,
  part: Part,
  format: FormatName,
): AsyncGenerator<readonly AnyRow[], void, void> {
  await checkPart(folder, part);
  const path = join(folder, part.file);
  let rows = 0;
  for await (const some of FORMATS[format].readRows(path, TABLES[part.table])) {
    rows += some.length;
    yield some;
  }
  if (rows !== part.rows) throw damaged(path, `expected ${count(part.rows, "row")}, got ${rows}`);
}

export const FORMATS: Readonly<Record<FormatName, PartFormat>> = {ndjson, csv, parquet};
