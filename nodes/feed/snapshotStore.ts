/**
 * Snapshots of a store in the object store of NATS, for replicas to start from:
 *
 *   bucket STREAM-CHAINID
 *     newest        JSON: block, hash, root, and the files of the newest snapshot       its metadata names the block
 *     before        the one before, whose files stay for current readers
 *     coming        the one being uploaded, or that was when its publisher died
 *     turn          the lease to upload, renewed while the upload runs
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
import {within} from "../../client/rpc/abortable.ts";
import {FeedError} from "./feedError.ts";
import {bodyBytes, type FeedChain} from "./feedMessage.ts";
import {awayOr, maxPayload, type NatsConnection} from "./natsConnection.ts";

export interface SnapshotFile {
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
/** The name of the lease in the bucket, as earlier versions write it. */
const LEASE = "turn";
const CHUNK_BYTES = 128 * 1024;
const ANSWER_MS = 10_000;
/** If no chunk of an object arrives for this long, its server is gone. */
const SILENCE_MS = 10_000;
const LEASE_RENEWAL_MS = 3000;
const LOOK_MS = 1000;
/** A lease that was not renewed for this long has expired. */
const LEASE_MS = 5 * LEASE_RENEWAL_MS;
/** A list of some 100 000 files, for 200 GB and more. */
const MAX_LIST_BYTES = 16 << 20;
/** The names of files of a store. They cannot lead to another folder. */
const FILE_NAME = /^[A-Z0-9][A-Z0-9_-]{0,63}(\.(ldb|log|sst))?$/i;
/** The library's message for a missing bucket. */
const NO_BUCKET = "object store not found";
const SHA256 = /^[0-9a-f]{64}$/;

export class SnapshotStore {
  private constructor(
    private readonly objects: ObjectStore,
    private readonly connection: NatsConnection,
  ) {}

  /** @param replicas - of a bucket to create. Without it, a missing bucket gives undefined. @throws what NATS throws */
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

  /** @returns the block in the metadata of the newest snapshot's list; undefined if there is none. @throws NatsAway */
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

  /**
   * Uploads the missing files under the lease, publishes the list, and removes the files that no list names.
   *
   * @returns uploaded bytes; undefined if the snapshot is not needed once the lease is taken
   */
  async put(
    folder: string,
    list: SnapshotList,
    bytesPerSecond: number,
    isNeeded: (newest: SnapshotList | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const lease = await UploadLease.take(this.objects, signal);
    try {
      // An invalid list counts as missing, and is replaced.
      const read = (name: string) => this.readList(signal, name).catch(noneIfNotList);
      const newest = await read(NEWEST);
      if (!isNeeded(newest)) return undefined;
      const old = [await read(BEFORE), await read(COMING)];
      await this.putList(COMING, list);
      const sent = await this.putFiles(folder, list, bytesPerSecond, lease, signal);
      if (newest !== undefined) await this.putList(BEFORE, newest);
      await lease.renew(true);
      await this.putList(NEWEST, list);
      const used = new Set([...list.files, ...(newest?.files ?? [])].map(({sha256}) => sha256));
      const unused = new Set(old.flatMap(one => one?.files ?? []).map(({sha256}) => sha256));
      for (const name of unused) {
        if (used.has(name)) continue;
        await lease.renew(true);
        await this.objects.delete(name);
      }
      return sent;
    } finally {
      await lease.end();
    }
  }

  private async putFiles(
    folder: string,
    list: SnapshotList,
    bytesPerSecond: number,
    lease: UploadLease,
    signal: AbortSignal,
  ): Promise<number> {
    const startMs = performance.now();
    let sent = 0;
    const slow = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        sent += chunk.length;
        const aheadMs = (1000 * sent) / bytesPerSecond - (performance.now() - startMs);
        if (aheadMs > 1) await sleep(aheadMs, undefined, {signal});
        signal.throwIfAborted();
        await lease.renew();
        yield chunk;
      }
    };
    for (const {name, bytes, sha256} of list.files) {
      await lease.renew();
      signal.throwIfAborted();
      if (bytes === 0 || (await this.find(sha256)) !== undefined) continue;
      const chunks = createReadStream(join(folder, name), {highWaterMark: CHUNK_BYTES});
      const content = Readable.toWeb(Readable.from(slow(chunks))) as ReadableStream<Uint8Array>;
      await this.objects.put({name: sha256, options: this.options}, content, {timeout: ANSWER_MS});
    }
    return sent;
  }

  /** Writes a file of a snapshot, synced. @throws FeedError if it is missing or another one; NatsAway; system errors */
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

  /** @throws FeedError for an invalid list; NatsAway; the signal's reason */
  async readList(signal: AbortSignal, name = NEWEST): Promise<SnapshotList | undefined> {
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

  /** The content of an object, or undefined. @throws NatsAway; FeedError if it is corrupt; the signal's reason */
  private async *read(name: string, signal: AbortSignal): AsyncGenerator<Uint8Array | undefined> {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      const found = await within(SILENCE_MS, "the object", signal, () => this.objects.get(name));
      if (found === null) {
        yield undefined;
        return;
      }
      const source = found.data.getReader();
      reader = source;
      // The reader reports it too.
      found.error.catch(() => {});
      for (;;) {
        const {done, value} = await within(SILENCE_MS, "the next chunk", signal, () => source.read());
        if (done) return;
        yield value;
      }
    } catch (error) {
      signal.throwIfAborted();
      throw /corrupt/.test((error as Error).message)
        ? new FeedError((error as Error).message)
        : awayOr(error);
    } finally {
      // A server that is gone does not respond.
      reader?.cancel().catch(() => {});
    }
  }
}

/** The lease to upload. The other publishers wait, so that no upload removes files that another one needs. */
class UploadLease {
  private writtenMs = performance.now();

  private constructor(
    private readonly objects: ObjectStore,
    private revision: number,
  ) {}

  /** Waits until the lease is free or has expired. */
  static async take(objects: ObjectStore, signal: AbortSignal): Promise<UploadLease> {
    let [seen, sinceMs] = [-1, performance.now()];
    for (;;) {
      const found = await objects.info(LEASE);
      const revision = found?.revision ?? 0;
      if (revision !== seen) [seen, sinceMs] = [revision, performance.now()];
      if (found === null || found.deleted || performance.now() - sinceMs > LEASE_MS) {
        const lease = new UploadLease(objects, revision);
        if (await lease.write()) return lease;
      }
      await sleep(LOOK_MS, undefined, {signal});
    }
  }

  /** @param now - also before LEASE_RENEWAL_MS. @throws FeedError if another upload has taken the lease */
  async renew(now = false): Promise<void> {
    if ((!now && performance.now() - this.writtenMs < LEASE_RENEWAL_MS) || (await this.write())) return;
    throw new FeedError("another upload has taken the lease of this one");
  }

  async end(): Promise<void> {
    try {
      if (await this.write()) await this.objects.delete(LEASE);
    } catch {
      // NATS is unreachable: the lease expires by itself.
    }
  }

  /** @returns false if another upload has written it */
  private async write(): Promise<boolean> {
    try {
      const options = {timeout: ANSWER_MS, previousRevision: this.revision};
      const {revision} = await this.objects.putBlob({name: LEASE}, Buffer.of(1), options);
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
