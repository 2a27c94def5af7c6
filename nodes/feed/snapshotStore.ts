/**
 * Snapshots of a store in the object store of NATS, for replicas to start from:
 *
 *   bucket STREAM-CHAINID
 *     newest        JSON: block, hash, root, and the files of the newest snapshot       its metadata names the block
 *     before        the one before, whose files stay for those who are reading them
 *     coming        the one that is being uploaded, or was when its publisher died
 *     turn          whose turn it is to upload: written again all the time, so that the others see that it lives
 *     SHA-256       the content of one file. Snapshots share the tables that did not change
 */
import {createHash} from "node:crypto";
import {createReadStream} from "node:fs";
import {open} from "node:fs/promises";
import {join} from "node:path";
import {Readable} from "node:stream";
import {setTimeout as sleep} from "node:timers/promises";
import {JetStreamApiCodes, JetStreamApiError, jetstream} from "@nats-io/jetstream";
import {type ObjectInfo, type ObjectStore, Objm} from "@nats-io/obj";
import {FeedError} from "./feedError.ts";
import {bodyBytes, type FeedChain} from "./feedMessage.ts";
import {awayOr, maxPayload, type NatsConnection} from "./natsConnection.ts";

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
const COMING = "coming";
const TURN = "turn";
const CHUNK_BYTES = 128 * 1024;
const ANSWER_MS = 10_000;
/** Nothing comes of an object for so long: its server is gone. */
const SILENCE_MS = 10_000;
const TURN_EVERY_MS = 3000;
const LOOK_MS = 1000;
/** A turn that was not written for so long is over. */
const TURN_MS = 5 * TURN_EVERY_MS;
/** A list of some 100 000 files: 200 GB and more. */
const MAX_LIST_BYTES = 16 << 20;
/** As LevelDB and proofd name files of a store: nothing that leads to another folder. */
const FILE_NAME = /^[A-Z0-9][A-Z0-9_-]{0,63}(\.(ldb|log|sst))?$/i;
/** What the library says of one that is not there. */
const NO_BUCKET = "object store not found";
const SHA256 = /^[0-9a-f]{64}$/;

export class SnapshotStore {
  private constructor(
    private readonly objects: ObjectStore,
    private readonly connection: NatsConnection,
  ) {}

  /** @param replicas - of a bucket that is made; undefined: there must be one. @returns undefined if there is none; throws what NATS throws */
  static async open(
    connection: NatsConnection,
    stream: string,
    {chainId}: FeedChain,
    replicas?: number,
  ): Promise<SnapshotStore | undefined> {
    const objm = new Objm(jetstream(connection, {timeout: ANSWER_MS, checkAPI: false}));
    const name = `${stream}-${chainId}`;
    if (replicas !== undefined) return new SnapshotStore(await objm.create(name, {replicas}), connection);
    const objects = await objm.open(name, false);
    try {
      await objects.status();
    } catch (error) {
      if ((error as Error).message === NO_BUCKET) return undefined;
      throw awayOr(error);
    }
    return new SnapshotStore(objects, connection);
  }

  /** @returns the block of the newest snapshot, as its list's metadata name it; undefined: there is none. @throws NatsAway */
  static async newestBlock(
    connection: NatsConnection,
    stream: string,
    chain: FeedChain,
  ): Promise<number | undefined> {
    try {
      const store = await SnapshotStore.open(connection, stream, chain);
      const found = await store?.find(NEWEST);
      return found === undefined ? undefined : Number(found.metadata?.block);
    } catch (error) {
      throw awayOr(error);
    }
  }

  /** @throws FeedError for a list that is none; NatsAway; the signal's reason */
  async newest(signal: AbortSignal): Promise<SnapshotList | undefined> {
    return this.readList(NEWEST, signal);
  }

  /**
   * Stores the files that are not there yet, and names the snapshot then. Files that no list has any more are removed. One upload at a time: this
   * one waits for its turn.
   *
   * @param isNeeded - asked when it is this one's turn. @returns bytes that were sent; undefined: it is not needed any more
   */
  async put(
    folder: string,
    list: SnapshotList,
    bytesPerSecond: number,
    isNeeded: (newest: SnapshotList | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const turn = await UploadTurn.take(this.objects, signal);
    try {
      // A list that cannot be read counts as none: this one takes its place.
      const read = (name: string) => this.readList(name, signal).catch(noneIfNotList);
      const newest = await read(NEWEST);
      if (!isNeeded(newest)) return undefined;
      const old = [await read(BEFORE), await read(COMING)];
      await this.putList(COMING, list);
      const sent = await this.putFiles(folder, list, bytesPerSecond, turn, signal);
      if (newest !== undefined) await this.putList(BEFORE, newest);
      await turn.renew(true);
      await this.putList(NEWEST, list);
      const used = new Set([...list.files, ...(newest?.files ?? [])].map(({sha256}) => sha256));
      const unused = new Set(old.flatMap(one => one?.files ?? []).map(({sha256}) => sha256));
      for (const name of unused) {
        if (used.has(name)) continue;
        await turn.renew(true);
        await this.objects.delete(name);
      }
      return sent;
    } finally {
      await turn.end();
    }
  }

  private async putFiles(
    folder: string,
    list: SnapshotList,
    bytesPerSecond: number,
    turn: UploadTurn,
    signal: AbortSignal,
  ): Promise<number> {
    const pace = new Pace(bytesPerSecond, () => turn.renew(), signal);
    let sent = 0;
    for (const {name, bytes, sha256} of list.files) {
      await turn.renew();
      signal.throwIfAborted();
      if (bytes === 0 || (await this.find(sha256)) !== undefined) continue;
      const chunks = createReadStream(join(folder, name), {highWaterMark: CHUNK_BYTES});
      const content = Readable.toWeb(Readable.from(pace.slow(chunks))) as ReadableStream<Uint8Array>;
      await this.objects.put({name: sha256, options: this.options}, content, {timeout: ANSWER_MS});
      sent += bytes;
    }
    return sent;
  }

  /**
   * Writes a file of a snapshot, synced.
   *
   * @throws FeedError if it is gone, or not what the list says; NatsAway; the signal's reason; what the system throws
   */
  async get({name, bytes, sha256}: SnapshotFile, path: string, signal: AbortSignal): Promise<void> {
    const hash = createHash("sha256");
    const file = await open(path, "w");
    let length = 0;
    try {
      // The object store has no content for empty objects, and its client fails to read it.
      for await (const chunk of bytes === 0 ? [] : this.read(sha256, signal)) {
        if (chunk === undefined)
          throw new FeedError(`the snapshot's file ${name} is gone: a newer snapshot took its place`);
        length += chunk.length;
        if (length > bytes) break;
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (length !== bytes || hash.digest("hex") !== sha256)
      throw new FeedError(
        `the snapshot's file ${name}: expected ${bytes} bytes with the SHA-256 ${sha256}, got others`,
      );
  }

  private get options(): {readonly max_chunk_size: number} {
    return {max_chunk_size: Math.min(CHUNK_BYTES, bodyBytes(maxPayload(this.connection)))};
  }

  private async find(name: string): Promise<ObjectInfo | undefined> {
    const found = await this.objects.info(name);
    return found === null || found.deleted ? undefined : found;
  }

  private async putList(name: string, list: SnapshotList): Promise<void> {
    const metadata = {block: String(list.block)};
    const bytes = Buffer.from(JSON.stringify(list));
    if (bytes.length > MAX_LIST_BYTES)
      throw new FeedError(`the snapshot has too many files: ${list.files.length}`);
    await this.objects.putBlob({name, metadata, options: this.options}, bytes, {timeout: ANSWER_MS});
  }

  private async readList(name: string, signal: AbortSignal): Promise<SnapshotList | undefined> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of this.read(name, signal)) {
      if (chunk === undefined) return undefined;
      length += chunk.length;
      if (length > MAX_LIST_BYTES)
        throw new FeedError(`the list of the newest snapshot has more than ${MAX_LIST_BYTES} bytes`);
      chunks.push(chunk);
    }
    return parseList(Buffer.concat(chunks));
  }

  /** The content of an object; undefined: there is none. @throws NatsAway; FeedError if it is not what was put; the signal's reason */
  private async *read(name: string, signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      const found = await orAborted(this.objects.get(name), signal);
      if (found === null) {
        yield undefined;
        return;
      }
      reader = found.data.getReader();
      // It comes as an error of the reader, too.
      found.error.catch(() => {});
      for (;;) {
        const {done, value} = await orAborted(reader.read(), signal);
        if (done) return;
        yield value;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw /corrupt/.test((error as Error).message)
        ? new FeedError((error as Error).message)
        : awayOr(error);
    } finally {
      // A server that is gone does not answer.
      reader?.cancel().catch(() => {});
    }
  }
}

/** Rejects with the signal's reason, or if nothing comes for a while. */
async function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const ending = new AbortController();
  const within = AbortSignal.any([signal, ending.signal]);
  const silence = sleep(SILENCE_MS, undefined, {signal: within}).then(() => {
    throw new Error(`nothing came for ${SILENCE_MS / 1000} s`);
  });
  try {
    return await Promise.race([promise, silence]);
  } finally {
    ending.abort();
    silence.catch(() => {}); // the race is over
  }
}

/** The turn to upload. While one publisher has it, the others wait, so no upload removes what another one relies on. */
class UploadTurn {
  private writtenMs = performance.now();

  private constructor(
    private readonly objects: ObjectStore,
    private revision: number,
  ) {}

  /** Waits until nobody else has it, or who has it is not seen to live. */
  static async take(objects: ObjectStore, signal: AbortSignal): Promise<UploadTurn> {
    let [seen, sinceMs] = [-1, performance.now()];
    for (;;) {
      const found = await objects.info(TURN);
      const revision = found?.revision ?? 0;
      if (revision !== seen) [seen, sinceMs] = [revision, performance.now()];
      if (found === null || found.deleted || performance.now() - sinceMs > TURN_MS) {
        const turn = new UploadTurn(objects, revision);
        if (await turn.write()) return turn;
      }
      await sleep(LOOK_MS, undefined, {signal});
    }
  }

  /** Shows that this upload lives. @param now - and not only from time to time. @throws FeedError if another one has taken the turn */
  async renew(now = false): Promise<void> {
    if ((!now && performance.now() - this.writtenMs < TURN_EVERY_MS) || (await this.write())) return;
    throw new FeedError("another upload has taken the turn of this one");
  }

  async end(): Promise<void> {
    try {
      if (await this.write()) await this.objects.delete(TURN);
    } catch {
      // NATS is away: the turn ends by itself.
    }
  }

  /** @returns false: another one has written it */
  private async write(): Promise<boolean> {
    try {
      const options = {timeout: ANSWER_MS, previousRevision: this.revision};
      const {revision} = await this.objects.putBlob({name: TURN}, Buffer.of(1), options);
      this.revision = revision;
      this.writtenMs = performance.now();
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence)
        return false;
      throw error;
    }
  }
}

/** Holds a stream of bytes to a rate. */
class Pace {
  private readonly startMs = performance.now();
  private bytes = 0;

  constructor(
    private readonly bytesPerSecond: number,
    private readonly onChunk: () => Promise<void>,
    private readonly signal: AbortSignal,
  ) {}

  async *slow(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.bytes += chunk.length;
      const aheadMs = (1000 * this.bytes) / this.bytesPerSecond - (performance.now() - this.startMs);
      if (aheadMs > 1) await sleep(aheadMs, undefined, {signal: this.signal});
      this.signal.throwIfAborted();
      await this.onChunk();
      yield chunk;
    }
  }
}

function noneIfNotList(error: unknown): undefined {
  if (!(error instanceof FeedError)) throw error;
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
    list.files.every(
      ({name, bytes: length, sha256}) =>
        FILE_NAME.test(name) && Number.isSafeInteger(length) && length >= 0 && SHA256.test(sha256),
    );
  if (!isList) throw new FeedError("the list of the newest snapshot is not what a publisher writes");
  return list;
}
