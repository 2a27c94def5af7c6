/**
 * The store in one directory: opened once per process by its owner (the main thread) and once more by every worker.
 *
 * It opens, closes and removes; `reader` reads what it holds (block/stateReader.ts), BlockWriter and rollback.ts change it.
 * LevelDB itself keeps other processes out.
 */
import {existsSync} from "node:fs";
import {join} from "node:path";
import {Level} from "level";
import {checkFormat} from "./block/format.ts";
import {edgeBlock, StateReader} from "./block/stateReader.ts";
import {acknowledge, reclaimPages, rollBack} from "./commit/rollback.ts";
import type {WriteTarget} from "./commit/writeTarget.ts";
import {requireAcknowledged} from "./leveldb/acknowledgedNote.ts";
import {openFailed} from "./leveldb/levelErrors.ts";
import {markClosed, markOpen} from "./leveldb/openMark.ts";
import {makeFolders, missingFolders, refuseForeignDirectory, removeStore} from "./leveldb/storeFolder.ts";
import {requireWholeFiles} from "./leveldb/wholeFiles.ts";

export interface StoreOptions {
  readonly directory: string;
  /**
   * The owner makes the store where there is none, and clears away what a crash left; it verifies LevelDB's files first.
   * Exactly one per process, before all sharers.
   */
  readonly role: "owner" | "sharer";
  /** Owner only: may a store be made in an empty or missing directory? */
  readonly createIfMissing?: boolean;
  /** The suite of a store that is made; a store that exists must have it. Left out: whatever the store has. */
  readonly suite?: string;
  /** For pages and hints that this reader keeps in memory. */
  readonly cacheBytes: number;
}

/** The part of `cacheBytes` that is for hints, of 8 bytes each: one in so many. */
const HINTS_PART = 4;
/** More would be no use before a tree has 16 million keys, and this is allocated at once. */
const MAX_HINT_BYTES = 256 << 20;

/**
 * Memory for writes not yet in a table file; twice that while one is written out. When it is full, LevelDB makes new files
 * while it holds the lock that every get takes: with 16 MB and blocks of 5 000 leaf writes a second, each second's proofs
 * stalled once for some 20 ms. (32 MB: p99 3.2 to 3.6 times that without an import; 64 MB: 2.5 to 3.5.)
 */
const WRITE_BUFFER_BYTES = 64 << 20;
/** Larger table files than LevelDB's 2 MB: fewer open files and mappings for hundreds of GB. */
const TABLE_FILE_BYTES = 32 << 20;

export class StateStore implements WriteTarget {
  readonly reader: StateReader;
  readonly db: Level<Buffer, Buffer>;
  readonly directory: string;
  /** The folders that were made with the store; undefined for a store that was there. */
  private readonly madeFolders: readonly string[] | undefined;
  private readonly isOwner: boolean;

  private constructor(
    db: Level<Buffer, Buffer>,
    {directory, role}: StoreOptions,
    reader: StateReader,
    madeFolders: readonly string[] | undefined,
  ) {
    this.db = db;
    this.directory = directory;
    this.isOwner = role === "owner";
    this.reader = reader;
    this.madeFolders = madeFolders;
  }

  /** @throws StoreError STORE_MISSING, STORE_IN_USE, STORE_DAMAGED, FORMAT_MISMATCH, RECORD_DAMAGED */
  static async open(options: StoreOptions): Promise<StateStore> {
    const {directory, role, cacheBytes} = options;
    const create = role === "owner" && options.createIfMissing === true;
    const missing = missingFolders(directory);
    const isNew = missing.length > 0 || !existsSync(join(directory, "CURRENT"));
    refuseForeignDirectory(directory, create);
    if (role === "owner" && !isNew) {
      await requireWholeFiles(directory);
      // LevelDB compacts as soon as it opens.
      markOpen(directory);
    }
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
    try {
      await db.open();
    } catch (error) {
      throw openFailed(directory, error);
    }
    try {
      if (role === "owner") markOpen(directory);
      const latest = await edgeBlock(db, true);
      // Before a format record is written where there is none.
      const note = role === "owner" ? await requireAcknowledged(directory, latest) : undefined;
      const suite = await checkFormat(db, directory, create, options.suite);
      const hintBytes = Math.min(cacheBytes / HINTS_PART, MAX_HINT_BYTES);
      const reader = new StateReader(db, suite, {pageBytes: cacheBytes - hintBytes, hintBytes});
      const store = new StateStore(db, options, reader, isNew ? missing : undefined);
      if (latest !== undefined) reader.noteNewest(latest);
      if (role === "owner") {
        await store.reclaim();
        if (latest !== undefined && latest !== note?.block) acknowledge(directory, latest);
      }
      return store;
    } catch (error) {
      await db.close();
      if (role === "owner") markClosed(directory);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.db.close();
    if (this.isOwner) markClosed(this.directory);
  }

  /** Closes a store that could not be filled: one that was made by `open` and holds no block is removed. */
  async discard(): Promise<void> {
    const isEmpty = this.madeFolders !== undefined && (await this.reader.latest()) === undefined;
    await this.close();
    if (isEmpty) await removeStore(this.db.location, this.madeFolders ?? []);
  }

  /** @throws StoreError FINALIZED, BLOCK_UNKNOWN, WRITE_FAILED (rollback.ts) */
  rollback(block: number): Promise<void> {
    return rollBack(this, block);
  }

  /** Removes pages that no block reaches: what a crash, a refused block or a rollback left. */
  reclaim(): Promise<void> {
    return reclaimPages(this);
  }
}
