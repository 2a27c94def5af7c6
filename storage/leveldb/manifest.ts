/**
 * Reads which files LevelDB should have. CURRENT names a manifest. The manifest's records list, change by change, the
 * tables that exist and the logs that are not in tables yet.
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
import {readdirSync, statSync} from "node:fs";
import {open} from "node:fs/promises";
import {join} from "node:path";
import {StoreError} from "../errors.ts";
import {kindOf, READ_AT_ONCE} from "../regularFile.ts";
import {ByteReader} from "./byteReader.ts";
import {FileDamage, findingOf, missingFile} from "./fileDamage.ts";
import {logNumber} from "./fileNames.ts";
import {readLog} from "./logFile.ts";

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
  readonly tables: ReadonlyMap<number, TableFile>;
}

const LOG_NUMBER = 2;
const NEXT_FILE = 3;
const LAST_SEQUENCE = 4;
const DELETED_TABLE = 6;
const NEW_TABLE = 7;
const PREVIOUS_LOG_NUMBER = 9;
/** The fields after each tag: n is a varint, b stands for bytes after their length. */
const FIELDS = ["", "b", "n", "n", "n", "nb", "nn", "nnnbb", "", "n"];

/** Numbers that LevelDB needs to open, as its messages call them. */
const REQUIRED = [
  [NEXT_FILE, "next file number"],
  [LOG_NUMBER, "log number"],
  [LAST_SEQUENCE, "last sequence number"],
] as const;

/** @throws FileDamage, the system's error if it does not exist */
export async function readSmallFile(directory: string, file: string): Promise<Buffer> {
  try {
    const handle = await open(join(directory, file), READ_AT_ONCE);
    try {
      const stats = await handle.stat();
      if (stats.isFile() || stats.isDirectory()) return await handle.readFile();
      throw new FileDamage({file, offset: undefined, what: `expected a file, got ${kindOf(stats)}`});
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new FileDamage(findingOf(error, file));
  }
}

export async function readManifest(directory: string): Promise<Manifest> {
  const current = await readSmallFile(directory, "CURRENT");
  const name = /^(MANIFEST-\d+)\n$/.exec(current.toString("latin1"))?.[1];
  if (name === undefined)
    throw new FileDamage({file: "CURRENT", offset: 0, what: "it does not name a manifest"});
  const numbers = new Map<number, number>();
  const tables = new Map<number, TableFile>();
  try {
    const {damage} = await readLog(join(directory, name), record =>
      readEdit(new ByteReader(record), numbers, tables),
    );
    if (damage !== undefined) throw new FileDamage({file: name, ...damage});
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw new FileDamage(findingOf(error, name));
    throw new FileDamage(missingFile(name, "CURRENT"));
  }
  for (const [tag, what] of REQUIRED)
    if (!numbers.has(tag)) throw new FileDamage({file: name, offset: undefined, what: `it has no ${what}`});
  return {
    name,
    logNumber: numbers.get(LOG_NUMBER) ?? 0,
    previousLogNumber: numbers.get(PREVIOUS_LOG_NUMBER) ?? 0,
    tables,
  };
}

const MAX_ATTEMPTS = 20;

/**
 * Runs `read`, and again if the manifest has changed meanwhile. @param discard - of what was read of replaced files
 *
 * @throws FileDamage, also what `read` throws; StoreError STORE_UNREADABLE if the manifest changes again and again
 */
export async function readUnchanged<Result>(
  directory: string,
  read: (manifest: Manifest) => Promise<Result>,
  discard: (result: Result) => void = () => {},
): Promise<Result> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = stampOf(directory);
    const [result] = await Promise.allSettled([readManifest(directory).then(read)]);
    const isUnchanged = stampOf(directory) === before;
    if (result.status === "rejected" && isUnchanged) throw result.reason;
    if (result.status === "rejected") continue;
    if (isUnchanged) return result.value;
    discard(result.value);
  }
  throw new StoreError("STORE_UNREADABLE", `${directory} changed ${MAX_ATTEMPTS} times while it was read`);
}

/** Differs once LevelDB has changed the manifest, which it only appends to, or begun another one. */
function stampOf(directory: string): string {
  try {
    const names = readdirSync(directory).filter(name => /^(CURRENT|MANIFEST-\d+)$/.test(name));
    return names.map(name => `${name} ${statSync(join(directory, name)).size}`).join();
  } catch (error) {
    return (error as Error).message; // the reading in between says more
  }
}

/** The logs that LevelDB would replay, in its order. @param names - of the directory's files */
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

/** @throws RangeError */
function readEdit(edit: ByteReader, numbers: Map<number, number>, tables: Map<number, TableFile>): void {
  const added: TableFile[] = [];
  while (!edit.isAtEnd) {
    const tag = edit.varint();
    const kinds = FIELDS[tag] || undefined;
    if (kinds === undefined) throw new RangeError(`unknown tag ${tag}`);
    const fields = Array.from(kinds, kind => (kind === "n" ? edit.varint() : edit.prefixedBytes()));
    if (tag === NEW_TABLE) {
      const [level, number, size, smallest, largest] = fields as [number, number, number, Buffer, Buffer];
      added.push({number, level, size, smallest, largest});
    } else if (tag === DELETED_TABLE) tables.delete(fields[1] as number);
    else if (kinds === "n") numbers.set(tag, fields[0] as number);
  }
  // A table that moves to another level is deleted and added in one record.
  for (const table of added) tables.set(table.number, table);
}
