/**
 * Apache Parquet. A part has some row groups, each with all columns of some rows, compressed by Snappy:
 *
 *   "PAR1" | row group | row group | .. | metadata | "PAR1"
 */
import {open} from "node:fs/promises";
import {
  type AsyncBuffer,
  type ColumnMetaData,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  type SchemaElement,
  snappyUncompress,
} from "hyparquet";
import {ByteWriter, ParquetWriter} from "hyparquet-writer";
import {damaged, nameFile, PulledError} from "../pulledError.ts";
import type {AnyRow, Table} from "../row/tables.ts";
import {
  type ParquetColumn,
  type ParquetValue,
  parquetColumns,
  parseValue,
  readStored,
} from "./parquetColumns.ts";
import {checkPages} from "./parquetPages.ts";
import {type PartFormat, parseRow} from "./partFormat.ts";

/**
 * Rows wait in memory until they are a group. With four times as many, a pull of 200 000 accounts takes 330 MB in place
 * of 237, and the files are no smaller.
 */
const GROUP_ROWS = 8_192;
/** Rows with long values make smaller groups. */
const GROUP_BYTES = 8 << 20;
/** Limits for untrusted files. Those of pages: parquetPages.ts. */
const MAX_GROUP_BYTES = 256 << 20;
const MAX_METADATA_BYTES = 16 << 20;
/** In Snappy, a copy of 64 bytes takes 3. */
const MAX_SNAPPY_RATIO = 22;

export const parquet: PartFormat = {
  createEncoder(table, write) {
    const columns = parquetColumns(table);
    const rowBytes = columns.reduce((sum, {bytes}) => sum + bytes, 0);
    const groupRows = Math.max(1, Math.min(GROUP_ROWS, Math.floor(GROUP_BYTES / rowBytes)));
    const bytes = new DrainedWriter(write);
    const writer = new ParquetWriter({
      writer: bytes,
      schema: schemaOf(columns),
      createdBy: "proofd",
    });
    let waiting: ParquetValue[][] = columns.map(() => []);
    let rows = 0;
    const flush = () => {
      if (rows === 0) return;
      const columnData = columns.map(({element: {name}}, at) => ({
        name,
        data: waiting[at] as ParquetValue[],
      }));
      writer.write({columnData, rowGroupSize: rows});
      [waiting, rows] = [columns.map(() => []), 0];
    };
    return {
      get bytes() {
        return bytes.offset + rows * rowBytes;
      },
      add: row => {
        const values = columns.map(column => column.encode(row));
        for (const [at, value] of values.entries()) waiting[at]?.push(value);
        if (++rows === groupRows) flush();
      },
      end: () => {
        flush();
        writer.finish();
        bytes.flush();
      },
    };
  },

  async *readRows(path, table) {
    const handle = await open(path).catch(error => {
      throw nameFile(path, "read", error);
    });
    try {
      const {size} = await handle.stat();
      const file: AsyncBuffer = {
        byteLength: size,
        slice: async (start, end = size) => {
          if (!(start >= 0 && end >= start && end <= size))
            throw new Error(`expected places in the file, got bytes ${start} to ${end} of ${size}`);
          const bytes = new Uint8Array(end - start);
          const {bytesRead} = await handle.read(bytes, 0, bytes.length, start);
          if (bytesRead < bytes.length) throw new Error("the file is shorter than its size");
          return bytes.buffer;
        },
      };
      yield* readGroups(path, table, file);
    } catch (error) {
      if (error instanceof PulledError) throw error;
      throw damaged(path, (error as Error).message, error);
    } finally {
      await handle.close();
    }
  },
};

async function* readGroups(
  path: string,
  table: Table,
  file: AsyncBuffer,
): AsyncGenerator<readonly AnyRow[], void, void> {
  const metadata = await readMetadata(file, table);
  let rowStart = 0;
  for (const {num_rows, total_byte_size, columns} of metadata.row_groups) {
    if (num_rows < 1 || num_rows > GROUP_ROWS || total_byte_size > MAX_GROUP_BYTES)
      throw new Error(
        `expected 1 to ${GROUP_ROWS} rows and ${MAX_GROUP_BYTES} bytes in a row group, got others`,
      );
    const rowEnd = rowStart + Number(num_rows);
    for (const {meta_data} of columns) await checkChunk(file, meta_data);
    const rows = await parquetReadObjects({
      ...{file, metadata, rowStart, rowEnd, utf8: false},
      compressors: {SNAPPY: uncompress},
    });
    yield rows.map((stored, at) =>
      parseRow(table, `${path}, row ${rowStart + at + 1}`, column => readStored(column, stored), parseValue),
    );
    rowStart = rowEnd;
  }
}

/** @throws Error for pages that would take more memory than the writer's pages do */
async function checkChunk(file: AsyncBuffer, chunk: ColumnMetaData | undefined): Promise<void> {
  if (chunk?.codec !== "SNAPPY") throw new Error(`expected columns in SNAPPY, got ${chunk?.codec}`);
  const start = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
  const bytes = await file.slice(start, start + Number(chunk.total_compressed_size));
  checkPages(new Uint8Array(bytes), GROUP_ROWS, uncompress);
}

/** @param length - the page's size as its header claims. @throws Error if so many bytes cannot decompress to it */
function uncompress(bytes: Uint8Array, length: number): Uint8Array {
  if (length > MAX_SNAPPY_RATIO * bytes.length)
    throw new Error(`expected a page of at most ${MAX_SNAPPY_RATIO * bytes.length} bytes, got ${length}`);
  const page = new Uint8Array(length);
  snappyUncompress(bytes, page);
  return page;
}

/** @throws Error unless the columns are those of the table */
async function readMetadata(file: AsyncBuffer, table: Table): Promise<FileMetaData> {
  const tail = new DataView(await file.slice(Math.max(0, file.byteLength - 8)));
  if (file.byteLength < 12 || tail.getUint32(0, true) > MAX_METADATA_BYTES)
    throw new Error(`expected metadata of at most ${MAX_METADATA_BYTES} bytes at the end`);
  const metadata = await parquetMetadataAsync(file);
  const stored = metadata.schema.map(describeElement);
  const expected = schemaOf(parquetColumns(table)).map(describeElement);
  if (stored.join() !== expected.join())
    throw new Error(`expected the columns ${expected.join(", ")}, got ${stored.join(", ").slice(0, 400)}`);
  // The reader turns decimals into doubles. Without their annotation it returns the bytes.
  const schema = metadata.schema.map(element => {
    const {converted_type, logical_type, precision, scale, ...plain} = element;
    return plain;
  });
  return {...metadata, schema};
}

function schemaOf(columns: readonly ParquetColumn[]): SchemaElement[] {
  return [{name: "root", num_children: columns.length}, ...columns.map(({element}) => element)];
}

function describeElement(element: SchemaElement): string {
  const {name, num_children, type, type_length, converted_type, repetition_type} = element;
  const parts = [name, num_children, type, type_length, converted_type, repetition_type];
  return parts.filter(part => part !== undefined).join(" ");
}

/** Writes its bytes to the part after each row group. */
class DrainedWriter extends ByteWriter {
  constructor(private readonly write: (bytes: Uint8Array) => void) {
    super();
  }

  flush(): void {
    this.write(this.getBytes());
    this.index = 0;
  }
}
