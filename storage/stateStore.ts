/**
 * The store in one directory: opened once per process by its owner (the main thread) and once more by every worker.
 *
 * Readers never lock and never see half a block: all they read hangs from a block record, which is written last and
 * never changes. LevelDB itself keeps other processes out.
 */
import {existsSync, readdirSync} from "node:fs";
import {join} from "node:path";
import {Level} from "level";
import {checkFormat} from "./block/format.ts";
import {edgeBlock, StateReader} from "./block/stateReader.ts";
import {StoreError} from "./errors.ts";
import type {HashSuite} from "./hash/suite.ts";
import {KeyHints} from "./index/keyHints.ts";
import {
  type AcknowledgedNote,
  describeLoss,
  isFinding,
  NOTE_FILE,
  readNote,
  writeNote,
} from "./leveldb/acknowledgedNote.ts";
import {damaged, openFailed, writeFailed} from "./leveldb/levelErrors.ts";
import {LogTail} from "./leveldb/logTail.ts";
import {markClosed, markOpen} from "./leveldb/openMark.ts";
import {makeFolders, missingFolders, removeStore} from "./leveldb/storeFolder.ts";
import {requireWholeFiles} from "./leveldb/wholeFiles.ts";
import {blockKey, FIRST_PAGE, hashKey, MAX_U48, META, pageKey, pageOfKey} from "./record/layout.ts";
import {sealRecord} from "./record/record.ts";

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
/** Keys of one batch that clears pages away: 1 MB of LevelDB's log. */
const RECLAIM_KEYS = 50_000;
/** Larger table files than LevelDB's 2 MB: fewer open files and mappings for hundreds of GB. */
const TABLE_FILE_BYTES = 32 << 20;

export class StateStore extends StateReader {
  readonly hints: KeyHints;
  readonly db: Level<Buffer, Buffer>;
  readonly directory: string;
  /** The folders that were made with the store; undefined for a store that was there. */
  private madeFolders: readonly string[] | undefined;
  private readonly isOwner: boolean;

  private constructor(
    db: Level<Buffer, Buffer>,
    {directory, cacheBytes, role}: StoreOptions,
    suite: HashSuite,
  ) {
    const hintBytes = Math.min(cacheBytes / HINTS_PART, MAX_HINT_BYTES);
    super(db, suite, cacheBytes - hintBytes);
    this.db = db;
    this.directory = directory;
    this.isOwner = role === "owner";
    this.hints = new KeyHints(hintBytes);
  }

  /** @throws StoreError STORE_MISSING, STORE_IN_USE, STORE_DAMAGED, FORMAT_MISMATCH, RECORD_DAMAGED */
  static async open(options: StoreOptions): Promise<StateStore> {
    const {directory, role} = options;
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
      const store = new StateStore(db, options, suite);
      if (isNew) store.madeFolders = missing;
      if (latest !== undefined) store.newestSeen = latest;
      if (role === "owner") {
        await store.reclaim();
        if (latest !== undefined && latest !== note?.block) store.acknowledge(latest);
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
    const isEmpty = this.madeFolders !== undefined && (await this.latest()) === undefined;
    await this.close();
    if (isEmpty) await removeStore(this.db.location, this.madeFolders ?? []);
  }

  /** The first page number that nothing has, or ever had in this process. */
  async nextPage(): Promise<number> {
    return Math.max(await this.afterLatest(), this.readNumber(META.floor) ?? FIRST_PAGE);
  }

  /**
   * Removes the blocks above `block`, pages and all. Their page numbers are not given again while readers may
   * have the pages cached.
   *
   * @throws StoreError FINALIZED if one of them is finalized, BLOCK_UNKNOWN if `block` is not held
   */
  async rollback(block: number): Promise<void> {
    this.blockOrThrow(block);
    const latest = (await this.latest()) ?? block;
    const finalized = this.readFinalized() ?? -1;
    if (block < Math.min(finalized, latest))
      throw new StoreError(
        "FINALIZED",
        `blocks up to ${Math.min(finalized, latest)} are finalized, and finalized blocks are not removed`,
      );
    const floor = Buffer.allocUnsafe(6);
    floor.writeUIntBE(await this.nextPage(), 0, 6);
    const operations: ({type: "del"; key: Buffer} | {type: "put"; key: Buffer; value: Buffer})[] = [
      {type: "put", key: META.floor, value: sealRecord(META.floor, floor)},
    ];
    for (let number = block + 1; number <= latest; number++) {
      operations.push({type: "del", key: hashKey(this.blockOrThrow(number).header.hash)});
      operations.push({type: "del", key: blockKey(number)});
    }
    // On disk before the blocks go: a note of a block that is gone says that the store has lost it.
    const note = await readNote(this.directory);
    if (note !== undefined && !isFinding(note) && note.block > block)
      writeNote(this.directory, {...note, block}, true);
    try {
      await this.db.batch(operations, {sync: true});
    } catch (error) {
      throw writeFailed(error);
    }
    this.newestSeen = block;
    await this.reclaim();
    this.acknowledge(block);
  }

  /** Removes pages that no block reaches: what a crash, a refused block or a rollback left. */
  async reclaim(): Promise<void> {
    const lte = pageKey(MAX_U48);
    let from = await this.afterLatest();
    for (;;) {
      let keys: Buffer[];
      try {
        keys = await this.db.keys({gte: pageKey(from), lte, limit: RECLAIM_KEYS}).all();
      } catch (error) {
        throw damaged("the pages", error);
      }
      const last = keys.at(-1);
      if (last === undefined) return;
      try {
        // Synced, as every write: LevelDB leaves a full log unsynced, and its end must not be torn when there is a next one.
        await this.db.batch(
          keys.map(key => ({type: "del", key})),
          {sync: true},
        );
      } catch (error) {
        throw writeFailed(error);
      }
      from = pageOfKey(last) + 1;
    }
  }

  /** Notes that all that was written is on disk, `latest` being the newest block. */
  private acknowledge(latest: number): void {
    const tail = new LogTail(this.directory);
    tail.advance();
    writeNote(this.directory, {block: latest, log: tail.number, bytes: tail.bytes}, false);
  }

  /** The first page number that no block reaches. */
  private async afterLatest(): Promise<number> {
    const latest = await this.latest();
    return latest === undefined ? FIRST_PAGE : this.blockOrThrow(latest).nextPage;
  }
}

/** @returns the note, if there is one. @throws StoreError STORE_DAMAGED if blocks that were acknowledged are not held */
async function requireAcknowledged(
  directory: string,
  latest: number | undefined,
): Promise<AcknowledgedNote | undefined> {
  const note = await readNote(directory);
  if (note === undefined || isFinding(note)) return undefined;
  const loss = describeLoss(note, latest);
  if (loss !== undefined)
    throw new StoreError("STORE_DAMAGED", `${directory} is damaged: ${NOTE_FILE}: ${loss}`);
  return note;
}

/** Looks before LevelDB does: it would make files in whatever directory it is given. */
export function refuseForeignDirectory(directory: string, create: boolean): void {
  if (existsSync(join(directory, "CURRENT"))) return;
  const files = existsSync(directory) ? readdirSync(directory) : [];
  // The first manifest is written just before CURRENT: a crash between the two leaves it, and nothing is lost.
  if (files.some(name => name === NOTE_FILE || /^(\d+\.(ldb|log)|MANIFEST-(?!000001$).*)$/.test(name)))
    throw new StoreError("STORE_DAMAGED", `${directory} holds a store without its CURRENT file`);
  if (!create) throw new StoreError("STORE_MISSING", `${directory} holds no store`);
  const foreign = files.find(name => !/^(LOCK|LOG|LOG\.old|MANIFEST-000001|\d+\.dbtmp)$/.test(name));
  if (foreign !== undefined)
    throw new StoreError(
      "STORE_MISSING",
      `${directory} holds no store, and is not empty (it has ${foreign}): a new store needs an empty directory`,
    );
}
