/**
 * Reads which files LevelDB should have. CURRENT names a manifest. The manifest's records list, change by change, the tables
 * that exist and the logs that are not in tables yet.
 *
 *   CURRENT    "MANIFEST-" number "\n"
 *   manifest   record *                              a file in log format (logFile.ts)
 *   record     (tag varint, fields) *                leveldb db/version_edit.cc
 *
 *   tag        1 comparator: bytes     2 log number     3 next file     4 last sequence     9 previous log number
 *              5 compaction pointer: level, key         6 deleted table: level, number
 *              7 new table: level, number, size, smallest key, largest key
 *
 * When LevelDB opens, it replays the previous log and the logs from `log number` on, in the order of their numbers.
 */
import {readFile} from "node:fs/promises";
import {join} from "node:path";
import {ByteReader} from "./byteReader.ts";
import {logNumber} from "./fileNames.ts";
import {readLog} from "./logFile.ts";

/** What is wrong with one of LevelDB's files. */
export interface FileFinding {
  readonly file: string;
  /** undefined: the finding is about the whole file. */
  readonly offset: number | undefined;
  readonly what: string;
}

export interface TableFile {
  readonly number: number;
  readonly level: number;
  /** Bytes. */
  readonly size: number;
  /** LevelDB's internal keys: key, then sequence and type in 8 bytes. */
  readonly smallest: Buffer;
  readonly largest: Buffer;
}

export interface Manifest {
  readonly name: string;
  /** Logs with lower numbers are in tables. 0: none is. */
  readonly logNumber: number;
  /** 0: none. */
  readonly previousLogNumber: number;
  /** The tables by number. */
  readonly tables: ReadonlyMap<number, TableFile>;
}

const COMPARATOR = 1;
const LOG_NUMBER = 2;
const NEXT_FILE = 3;
const LAST_SEQUENCE = 4;
const COMPACT_POINTER = 5;
const DELETED_TABLE = 6;
const NEW_TABLE = 7;
const PREVIOUS_LOG_NUMBER = 9;

/** Numbers that LevelDB needs to open, with the names that its message gives them. */
const REQUIRED = [
  [NEXT_FILE, "next file number"],
  [LOG_NUMBER, "log number"],
  [LAST_SEQUENCE, "last sequence number"],
] as const;

/** @returns the bytes, or a finding if the disk cannot read them. @throws the system's error if the file does not open */
export async function readSmallFile(directory: string, file: string): Promise<Buffer | FileFinding> {
  try {
    return await readFile(join(directory, file));
  } catch (error) {
    const {syscall, message} = error as NodeJS.ErrnoException;
    if (syscall !== "read") throw error;
    return {file, offset: 0, what: `it cannot be read: ${message}`};
  }
}

/** @returns the manifest that CURRENT names, or what is wrong with CURRENT or the manifest */
export async function readManifest(directory: string): Promise<Manifest | FileFinding> {
  const current = await readSmallFile(directory, "CURRENT");
  if ("what" in current) return current;
  const name = /^(MANIFEST-\d+)\n$/.exec(current.toString("latin1"))?.[1];
  if (name === undefined) return {file: "CURRENT", offset: 0, what: "it does not name a manifest"};
  const numbers = new Map<number, number>();
  const tables = new Map<number, TableFile>();
  try {
    const {damage} = await readLog(join(directory, name), record => {
      try {
        readEdit(new ByteReader(record), numbers, tables);
        return undefined;
      } catch (error) {
        if (error instanceof RangeError) return `a record that does not decode: ${error.message}`;
        throw error;
      }
    });
    if (damage !== undefined) return {file: name, ...damage};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return {file: name, offset: undefined, what: "it is not there, although CURRENT names it"};
  }
  for (const [tag, what] of REQUIRED)
    if (!numbers.has(tag)) return {file: name, offset: undefined, what: `it has no ${what}`};
  return {
    name,
    logNumber: numbers.get(LOG_NUMBER) ?? 0,
    previousLogNumber: numbers.get(PREVIOUS_LOG_NUMBER) ?? 0,
    tables,
  };
}

/** The numbers of the logs that LevelDB would replay, in its order. @param names - the names of the directory's files */
export function liveLogs(
  names: readonly string[],
  {logNumber: first, previousLogNumber}: Manifest,
): number[] {
  return names
    .map(name => logNumber(name))
    .filter(number => number !== undefined)
    .filter(number => number >= first || (number === previousLogNumber && number > 0))
    .sort((a, b) => a - b);
}

/** Do two readings of the manifest name the same files? */
export function isSameManifest(a: Manifest, b: Manifest): boolean {
  return (
    a.name === b.name &&
    a.logNumber === b.logNumber &&
    a.tables.size === b.tables.size &&
    [...a.tables.keys()].every(number => b.tables.has(number))
  );
}

/** @throws RangeError */
function readEdit(edit: ByteReader, numbers: Map<number, number>, tables: Map<number, TableFile>): void {
  const added: TableFile[] = [];
  while (!edit.isAtEnd) {
    const tag = edit.varint();
    switch (tag) {
      case COMPARATOR:
        edit.prefixedBytes();
        break;
      case LOG_NUMBER:
      case PREVIOUS_LOG_NUMBER:
      case NEXT_FILE:
      case LAST_SEQUENCE:
        numbers.set(tag, edit.varint());
        break;
      case COMPACT_POINTER:
        edit.varint();
        edit.prefixedBytes();
        break;
      case DELETED_TABLE:
        edit.varint();
        tables.delete(edit.varint());
        break;
      case NEW_TABLE: {
        const [level, number, size] = [edit.varint(), edit.varint(), edit.varint()];
        const [smallest, largest] = [edit.prefixedBytes(), edit.prefixedBytes()];
        added.push({number, level, size, smallest, largest});
        break;
      }
      default:
        throw new RangeError(`unknown tag ${tag}`);
    }
  }
  // A table that moves to another level is deleted and added in one record.
  for (const table of added) tables.set(table.number, table);
}
