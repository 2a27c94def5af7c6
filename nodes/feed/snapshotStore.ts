/**
 * Snapshots of a store in the object store of NATS, for replicas to start from:
 *
 *   bucket STREAM-CHAINID
 *     newest        JSON: block, hash, root, and the files of the newest snapshot       written last
 *     before        the one before, whose files stay for those who are reading them
 *     SHA-256       the content of one file. Snapshots share the tables that did not change
 */
import {createHash} from "node:crypto";
import {createReadStream} from "node:fs";
import {open} from "node:fs/promises";
import {join} from "node:path";
import {Readable} from "node:stream";
import {setTimeout as sleep} from "node:timers/promises";
import {jetstream} from "@nats-io/jetstream";
import {type ObjectStore, Objm} from "@nats-io/obj";
import {FeedError} from "./feedError.ts";
import type {FeedChain} from "./feedMessage.ts";
import type {NatsConnection} from "./natsConnection.ts";

/** A file of a snapshot. */
export interface SnapshotFile {
  /** Its name in the folder, without one of another folder. */
  readonly name: string;
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

export interface SnapshotList {
  readonly version: 1;
  readonly suite: string;
  readonly block: number;
  /** `0x` text. */
  readonly hash: string;
  readonly stateRoot: string;
  readonly files: readonly SnapshotFile[];
}

const NEWEST = "newest";
const BEFORE = "before";
const CHUNK_BYTES = 128 * 1024;
const ANSWER_MS = 10_000;
/** As LevelDB and proofd name files of a store: nothing that leads to another folder. */
const FILE_NAME = /^[A-Z0-9][A-Z0-9_-]{0,63}(\.(ldb|log|sst))?$/i;
const SHA256 = /^[0-9a-f]{64}$/;
const MAX_FILES = 1_000_000;

export class SnapshotStore {
  private constructor(private readonly objects: ObjectStore) {}

  /** @param replicas - of a bucket that is made; undefined: there must be one. @returns undefined if there is none; throws what NATS throws */
  static async open(
    connection: NatsConnection,
    stream: string,
    {chainId}: FeedChain,
    replicas?: number,
  ): Promise<SnapshotStore | undefined> {
    const objm = new Objm(jetstream(connection, {timeout: ANSWER_MS}));
    const name = `${stream}-${chainId}`;
    if (replicas !== undefined) return new SnapshotStore(await objm.create(name, {replicas}));
    for await (const {bucket} of objm.list())
      if (bucket === name) return new SnapshotStore(await objm.open(name));
    return undefined;
  }

  /** @throws FeedError for a list that is none */
  async newest(): Promise<SnapshotList | undefined> {
    const bytes = await this.objects.getBlob(NEWEST);
    return bytes === null ? undefined : parseList(bytes);
  }

  /**
   * Stores the files that are not there yet, and names the snapshot then. Files of snapshots before the last one are removed.
   *
   * @param bytesPerSecond - at most. @returns bytes that were sent
   */
  async put(
    folder: string,
    list: SnapshotList,
    bytesPerSecond: number,
    signal: AbortSignal,
  ): Promise<number> {
    const newest = await this.newest();
    const held = new Set((await this.objects.list()).map(({name}) => name));
    const pace = new Pace(bytesPerSecond, signal);
    let sent = 0;
    for (const {name, bytes, sha256} of list.files) {
      if (bytes === 0 || held.has(sha256)) continue;
      const content = Readable.toWeb(
        Readable.from(pace.slow(createReadStream(join(folder, name), {highWaterMark: CHUNK_BYTES}))),
      );
      const meta = {name: sha256, options: {max_chunk_size: CHUNK_BYTES}};
      await this.objects.put(meta, content as ReadableStream<Uint8Array>, {timeout: ANSWER_MS});
      sent += bytes;
    }
    if (newest !== undefined) await this.objects.putBlob({name: BEFORE}, encode(newest));
    await this.objects.putBlob({name: NEWEST}, encode(list));
    const used = new Set([...list.files, ...(newest?.files ?? [])].map(({sha256}) => sha256));
    for (const name of held) if (SHA256.test(name) && !used.has(name)) await this.objects.delete(name);
    return sent;
  }

  /**
   * Writes a file of a snapshot, synced.
   *
   * @throws FeedError if it is gone, or not what the list says; the signal's reason; what the system throws
   */
  async get({name, bytes, sha256}: SnapshotFile, path: string, signal: AbortSignal): Promise<void> {
    // The object store has no content for empty objects, and its client fails to read it.
    const found = bytes === 0 ? undefined : await this.objects.get(sha256);
    if (found === null)
      throw new FeedError(`the snapshot's file ${name} is gone: a newer snapshot took its place`);
    const hash = createHash("sha256");
    const file = await open(path, "w");
    let length = 0;
    try {
      for await (const chunk of found?.data ?? []) {
        signal.throwIfAborted();
        length += chunk.length;
        if (length > bytes) break;
        hash.update(chunk);
        await file.write(chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (length !== bytes || hash.digest("hex") !== sha256)
      throw new FeedError(
        `the snapshot's file ${name}: expected ${bytes} bytes with the SHA-256 ${sha256}, got others`,
      );
    const error = await found?.error;
    if (error instanceof Error) throw error;
  }
}

/** Holds a stream of bytes to a rate. */
class Pace {
  private readonly startMs = performance.now();
  private bytes = 0;

  constructor(
    private readonly bytesPerSecond: number,
    private readonly signal: AbortSignal,
  ) {}

  async *slow(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      const aheadMs = (1000 * this.bytes) / this.bytesPerSecond - (performance.now() - this.startMs);
      if (aheadMs > 1) await sleep(aheadMs, undefined, {signal: this.signal});
      this.signal.throwIfAborted();
      yield chunk;
    }
  }
}

function encode(list: SnapshotList): Uint8Array {
  return Buffer.from(JSON.stringify(list));
}

function parseList(bytes: Uint8Array): SnapshotList {
  let list: SnapshotList;
  try {
    list = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    throw new FeedError("the list of the newest snapshot is not JSON");
  }
  if (list.version !== 1)
    throw new FeedError(
      `the newest snapshot: expected version 1, got version ${list.version}: use a newer proofd`,
    );
  const isList =
    Number.isSafeInteger(list.block) &&
    [list.suite, list.hash, list.stateRoot].every(text => typeof text === "string") &&
    Array.isArray(list.files) &&
    list.files.length <= MAX_FILES &&
    list.files.every(
      ({name, bytes: length, sha256}) =>
        FILE_NAME.test(name) && Number.isSafeInteger(length) && length >= 0 && SHA256.test(sha256),
    );
  if (!isList) throw new FeedError("the list of the newest snapshot is not what a publisher writes");
  return list;
}
