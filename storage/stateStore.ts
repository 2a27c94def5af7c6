/**
 * The store in one directory. Its owner (the main thread) opens it once per process, and every worker once more.
 * `reader` reads it; BlockWriter and rollback.ts change it. LevelDB keeps other processes out.
 */
import {existsSync, readdirSync, statSync} from "node:fs";
import {statfs} from "node:fs/promises";
import {join} from "node:path";
import {Level} from "level";
import {makeFormat, readFormat, requireFormat} from "./block/format.ts";
import {StateReader} from "./block/stateReader.ts";
import {acknowledge, reclaimPages, removeMissed, rollBack} from "./commit/rollback.ts";
import type {WriteTarget} from "./commit/writeBatch.ts";
import {requireAcknowledged} from "./directory/acknowledgedNote.ts";
import {requireUndamagedFiles} from "./directory/openingCheck.ts";
import {
  makeFolders,
  missingFolders,
  refuseForeignDirectory,
  removeStore,
} from "./directory/storeDirectory.ts";
import {StoreSource} from "./directory/storeSource.ts";
import {StoreError} from "./errors.ts";
import type {StoreSuite} from "./hash/suites.ts";
import {logNumber} from "./leveldb/fileNames.ts";
import {openFailed} from "./leveldb/levelErrors.ts";
import {LogTail} from "./leveldb/logTail.ts";
import {readRun} from "./prune/pruneRecord.ts";
import {KINDS, META_KEYS} from "./record/layout.ts";

interface StoreOptions {
  readonly directory: string;
  /** The owner, one per process and opened first, verifies LevelDB's files and removes what a crash left. */
  readonly role: "owner" | "sharer";
  readonly createIfMissing?: boolean;
  /** The suite of a new store. An existing store must have this suite. Default: any suite. */
  readonly suite?: string | undefined;
  readonly cacheBytes: number;
}

/** Hints, of 8 bytes each, get 1/HINTS_PART of `cacheBytes`. */
const HINTS_PART = 4;
/** More would help only in trees with over 16 million keys, and this memory is allocated at once. */
const MAX_HINT_BYTES = 256 << 20;

/**
 * Memory for writes that are not in a table file yet; twice as much while one is written out. When it is full, LevelDB
 * creates new files while it holds the lock that every get takes. With 16 MB and blocks of 5 000 leaf writes a second,
 * this stalled the proofs once a second for some 20 ms. (32 MB: p99 is 3.2 to 3.6 times that without an import; 64 MB:
 * 2.5 to 3.5.)
 */
const WRITE_BUFFER_BYTES = 64 << 20;
/** Larger than LevelDB's 2 MB: a store of hundreds of GB then needs fewer open files and mappings. */
const TABLE_FILE_BYTES = 32 << 20;

export class StateStore implements WriteTarget {
  private constructor(
    readonly db: Level<Buffer, Buffer>,
    private readonly source: StoreSource,
    readonly directory: string,
    readonly reader: StateReader,
    /** The folders created with the store; undefined if the store existed before. */
    private readonly madeFolders: readonly string[] | undefined,
  ) {}

  /** @throws StoreError STORE_MISSING, STORE_IN_USE, STORE_DAMAGED, FORMAT_MISMATCH, RECORD_DAMAGED, RECORD_MISSING */
  static async open(options: StoreOptions): Promise<StateStore> {
    const {directory, role} = options;
    const create = role === "owner" && options.createIfMissing === true;
    const missing = missingFolders(directory);
    refuseForeignDirectory(directory, create);
    const isNew = !existsSync(join(directory, "CURRENT"));
    if (role === "owner" && !isNew) await requireUndamagedFiles(directory, META_KEYS);
    makeFolders(missing);
    const db = new Level<Buffer, Buffer>(directory, {
      keyEncoding: "buffer",
      valueEncoding: "buffer",
      multithreading: true,
      createIfMissing: create,
      // Hashes do not compress.
      compression: false,
      writeBufferSize: WRITE_BUFFER_BYTES,
      maxFileSize: TABLE_FILE_BYTES,
    });
    const source = new StoreSource(db);
    try {
      await openLevel(db, directory);
      const suite = await readSuite(db, directory, create, options.suite);
      const hintBytes =
        suite.trees === undefined ? 0 : Math.min(options.cacheBytes / HINTS_PART, MAX_HINT_BYTES);
      const reader = new StateReader(source, suite, {pageBytes: options.cacheBytes - hintBytes, hintBytes});
      await reader.latest();
      const store = new StateStore(db, source, directory, reader, isNew ? missing : undefined);
      if (role === "owner") await store.recover();
      return store;
    } catch (error) {
      await db.close();
      throw error;
    }
  }

  /**
   * Owner only, after a refused write: opens LevelDB again, while the reader reads the files. Sharers must be closed.
   *
   * @throws StoreError as `open`: LevelDB is closed then
   */
  async reopen(): Promise<void> {
    const {db, source, directory} = this;
    await source.readFiles(directory);
    await db.close();
    const before = new LogTail(directory);
    before.advance();
    await requireUndamagedFiles(directory, META_KEYS);
    await openLevel(db, directory);
    const tail = new LogTail(directory);
    tail.advance();
    if (tail.number <= before.number)
      throw new StoreError(
        "WRITE_FAILED",
        `${directory} was not closed: LevelDB still writes ${tail.number}.log`,
      );
    source.readLevel();
    await this.recover();
  }

  async close(): Promise<void> {
    await this.db.close();
    this.source.readLevel();
  }

  /** Closes a store that could not be filled. Removes it if `open` created it and it has no block. */
  async discard(): Promise<void> {
    const isEmpty = this.madeFolders !== undefined && (await this.reader.latest()) === undefined;
    await this.close();
    if (isEmpty) await removeStore(this.db.location, this.madeFolders ?? []);
  }

  async readDisk(): Promise<{readonly free: number; readonly size: number}> {
    const {bavail, blocks, bsize} = await statfs(this.directory);
    return {free: bavail * bsize, size: blocks * bsize};
  }

  /** Bytes of tables by kind of record, as LevelDB estimates them, and of its log. Empty while LevelDB is not open. */
  async readSizes(): Promise<readonly (readonly [kind: string, bytes: number])[]> {
    const db = this.db as Level<Buffer, Buffer> & {
      approximateSize(start: Buffer, end: Buffer): Promise<number>;
    };
    try {
      const tables = await Promise.all(
        KINDS.map(async ({kind, start, end}) => [kind, await db.approximateSize(start, end)] as const),
      );
      const logBytes = readLogBytes(this.directory);
      return logBytes === undefined ? tables : [...tables, ["log", logBytes]];
    } catch (error) {
      if (db.status !== "open") return [];
      throw error;
    }
  }

  rollback(block: number): Promise<void> {
    return rollBack(this, block);
  }

  /** Also for finalized blocks; no sharer may be open. @throws as rollBack, and StoreError PRUNING */
  async rollbackFinalized(block: number): Promise<void> {
    const run = readRun(this.reader);
    if (run !== undefined)
      throw new StoreError(
        "PRUNING",
        `blocks ${run.first} to ${run.next - 1} are being pruned: let \`proofd serve\` or \`proofd import\` finish that first`,
      );
    await rollBack(this, block, true);
  }

  reclaim(): Promise<void> {
    return reclaimPages(this);
  }

  /** Checks a store that its owner has just opened, and removes what a crash left. */
  private async recover(): Promise<void> {
    const {reader, directory} = this;
    await reader.requireMarks();
    const latest = await reader.latest();
    const note = await requireAcknowledged(directory, latest);
    await this.reclaim();
    if (reader.readSlice() !== undefined) await removeMissed(this);
    if (latest !== undefined && latest !== note?.block) acknowledge(directory, latest);
  }
}

/** @returns undefined if the directory cannot be read: LevelDB continues with its open files */
function readLogBytes(directory: string): number | undefined {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return undefined;
  }
  // LevelDB may remove one meanwhile.
  return names
    .filter(name => logNumber(name) !== undefined)
    .reduce((sum, name) => sum + (statSync(join(directory, name), {throwIfNoEntry: false})?.size ?? 0), 0);
}

async function openLevel(db: Level<Buffer, Buffer>, directory: string): Promise<void> {
  try {
    await db.open();
  } catch (error) {
    throw openFailed(directory, error);
  }
}

async function readSuite(
  db: Level<Buffer, Buffer>,
  directory: string,
  create: boolean,
  expected: string | undefined,
): Promise<StoreSuite> {
  if (create && readFormat(db, directory) === undefined) return makeFormat(db, directory, expected);
  const suite = await requireFormat(db, directory);
  if (expected !== undefined && suite.name !== expected)
    throw new StoreError("FORMAT_MISMATCH", `${directory}: expected suite ${expected}, got ${suite.name}`);
  return suite;
}
