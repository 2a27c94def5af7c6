/**
 * A store's records as of one moment, read from LevelDB's files without a lock. All files are opened at once, and stay
 * readable if they are removed. Damage is an error here, where LevelDB would read on or end the process.
 */
import {readdir} from "node:fs/promises";
import {join} from "node:path";
import {countBelow} from "../bisect.ts";
import {FileDamage} from "./fileDamage.ts";
import {logName, tableName} from "./fileNames.ts";
import {compareInternalKeys, compareKeys} from "./internalKey.ts";
import {readLog} from "./logFile.ts";
import {liveLogs, type Manifest, readUnchanged} from "./manifest.ts";
import {MemoryTable} from "./memoryTable.ts";
import type {KeyRange, RecordSource} from "./recordSource.ts";
import {TableBlocks} from "./tableBlocks.ts";
import {BlockMemory, TableReader, type Version} from "./tableReader.ts";

/** For blocks: as large as the index blocks of some 4 GB of tables. */
const MEMORY_BYTES = 32 << 20;
const LEVELS = [1, 2, 3, 4, 5, 6];
const FIRST_KEY = Buffer.alloc(0);

export class FileSnapshot implements RecordSource {
  /** Tables of level 0, where keys overlap; newest first. */
  private readonly overlapping: readonly TableReader[];
  private readonly levels: readonly (readonly TableReader[])[];

  constructor(
    private readonly logs: MemoryTable,
    tables: readonly TableReader[],
  ) {
    this.overlapping = tables
      .filter(({live}) => live.level === 0)
      .sort((a, b) => b.live.number - a.live.number);
    this.levels = LEVELS.map(level =>
      tables
        .filter(({live}) => live.level === level)
        .sort((a, b) => compareInternalKeys(a.live.smallest, b.live.smallest)),
    );
  }

  /** @throws FileDamage; StoreError STORE_UNREADABLE; the system's own errors */
  static async open(directory: string): Promise<FileSnapshot> {
    return readUnchanged(
      directory,
      async manifest => openFiles(directory, manifest),
      snapshot => snapshot.close(),
    );
  }

  close(): void {
    for (const table of this.tables()) table.close();
  }

  /** @throws FileDamage */
  getSync(key: Buffer): Buffer | undefined {
    for (const versions of this.sources(key)) {
      const {done, value} = versions.next();
      if (done !== true && value.key.equals(key)) return value.value;
    }
    return undefined;
  }

  iterator({gte, lte, reverse}: KeyRange & {readonly reverse: boolean}): {
    all(): Promise<[key: Buffer, value: Buffer][]>;
  } {
    return {all: async () => (reverse ? this.last(gte, lte) : this.first(gte, lte))};
  }

  /** Every record from key `from` on, in key order. @throws FileDamage */
  *records(from: Buffer = FIRST_KEY): Generator<[key: Buffer, value: Buffer]> {
    const sources = this.sources(from);
    const heads = sources.map(source => source.next());
    let last: Buffer | undefined;
    for (;;) {
      let first = -1;
      for (const [i, head] of heads.entries())
        if (!head.done && (first < 0 || Buffer.compare(head.value.key, headKey(heads, first)) < 0)) first = i;
      if (first < 0) return;
      const {key, value} = (heads[first] as IteratorYieldResult<Version>).value;
      if (last === undefined || !last.equals(key)) {
        last = key;
        if (value !== undefined) yield [key, value];
      }
      heads[first] = (sources[first] as (typeof sources)[number]).next();
    }
  }

  private first(gte: Buffer, lte: Buffer): [Buffer, Buffer][] {
    const {done, value} = this.records(gte).next();
    return done === true || Buffer.compare(value[0], lte) > 0 ? [] : [value];
  }

  private last(gte: Buffer, lte: Buffer): [Buffer, Buffer][] {
    // The smallest key above `lte`.
    let bound: Buffer | undefined = Buffer.concat([lte, Buffer.alloc(1)]);
    while (bound !== undefined && Buffer.compare(bound, gte) > 0) {
      const below: Buffer = bound;
      const candidates = [this.logs, ...this.tables()].map(source => source.lastBelow(below));
      bound = candidates
        .filter(key => key !== undefined)
        .sort(Buffer.compare)
        .at(-1);
      if (bound === undefined || Buffer.compare(bound, gte) < 0) break;
      const value = this.getSync(bound);
      if (value !== undefined) return [[bound, value]];
    }
    return [];
  }

  /** The versions of keys from `from` on, the newest sources first. Each gives the newest version of a key first. */
  private sources(from: Buffer): Generator<Version>[] {
    return [
      this.logs.versions(from),
      ...this.overlapping.map(table => table.versions(from)),
      ...this.levels.map(level => versionsOf(level, from)),
    ];
  }

  private tables(): TableReader[] {
    return [...this.overlapping, ...this.levels.flat()];
  }
}

/** @throws FileDamage, the system's own errors */
async function openFiles(directory: string, manifest: Manifest): Promise<FileSnapshot> {
  const logs = new MemoryTable();
  const tables: TableReader[] = [];
  const memory = new BlockMemory(MEMORY_BYTES);
  let file = "";
  try {
    for (const live of manifest.tables.values()) {
      file = tableName(live.number);
      tables.push(new TableReader(TableBlocks.open(directory, live.number), live, memory));
    }
    for (const number of liveLogs(await readdir(directory), manifest)) {
      file = logName(number);
      const {damage} = await readLog(join(directory, file), record => logs.apply(record));
      if (damage !== undefined) throw new FileDamage({file, ...damage});
    }
    return new FileSnapshot(logs, tables);
  } catch (error) {
    for (const table of tables) table.close();
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new FileDamage({file, offset: undefined, what: "it is missing"});
  }
}

function* versionsOf(level: readonly TableReader[], from: Buffer): Generator<Version> {
  const at = countBelow(
    level.length,
    table => compareKeys((level[table] as TableReader).live.largest, from) < 0,
  );
  for (const table of level.slice(at)) yield* table.versions(from);
}

function headKey(heads: readonly IteratorResult<Version>[], at: number): Buffer {
  return (heads[at] as IteratorYieldResult<Version>).value.key;
}
