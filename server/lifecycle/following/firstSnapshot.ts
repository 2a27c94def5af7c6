/**
 * Starts a replica from the newest snapshot of its feed, if it has no store, or one that the stream does not continue.
 * If it serves that store, the snapshot is downloaded meanwhile (storeReplacement.ts).
 *
 *   DB.taking     files as they come; complete ones stay for the next attempt
 *   DB.taken      all files, compared with their SHA-256. The newest block was checked, and nothing contradicts the
 *                 finalized blocks of the store. It replaces DB, at the next start if this process is killed
 */
import {createHash} from "node:crypto";
import {createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync} from "node:fs";
import {join} from "node:path";
import {setTimeout as sleep} from "node:timers/promises";
import type {Logger} from "pino";
import {FeedError} from "../../../nodes/feed/feedError.ts";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import {findPath} from "../../../nodes/feed/feedPath.ts";
import {FeedStream, StreamMissing} from "../../../nodes/feed/feedStream.ts";
import {connectNats, describeOldServer, type NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {type SnapshotFile, type SnapshotList, SnapshotStore} from "../../../nodes/feed/snapshotStore.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {BlockWriter} from "../../../storage/commit/blockWriter.ts";
import {isInUse} from "../../../storage/directory/lockHolder.ts";
import {StoreError} from "../../../storage/errors.ts";
import {toHex} from "../../../storage/hex.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {openFiles, readNewestBlock} from "../../../storage/storeSnapshot.ts";
import type {FeedSource} from "../../../workers/messages/importSource.ts";
import {startCheck} from "../../../workers/threads/runningCheck.ts";
import {describeHolder} from "../control/storeHolder.ts";
import {openFailed, SettingsError, WorkError} from "../workError.ts";
import {type ComparedStore, findContradiction} from "./snapshotMatch.ts";

/** Leaves of the newest block that are compared with its root before a snapshot is served. */
const SAMPLE = 100;
/** Longest wait for NATS if there is a store to serve. */
const SERVED_WAIT_MS = 10_000;
const PROGRESS_EVERY_MS = 10_000;
const WAITS = {firstMs: 250, longestMs: 5000};
/** For marking blocks as finalized. */
const MARKING_CACHE_BYTES = 1 << 20;

export interface SnapshotTarget {
  readonly directory: string;
  readonly feed: FeedSource;
  /** Of a new store. undefined: the own store has it. */
  readonly chainId: bigint | undefined;
  readonly suite: string;
}

/** A store that exists already. */
interface OwnStore {
  readonly newest: ComparedStore["newest"] & {readonly block: number; readonly suite: string};
  readonly reader: ComparedStore["reader"] & Pick<StateReader, "finalizations">;
  readonly isServed: boolean;
  close(): void;
}

/** Why no snapshot replaces the store. */
export interface SnapshotMiss {
  readonly reason: string;
  /** Of a snapshot that contradicts the store: only another one is tried. */
  readonly block?: number | undefined;
}

/** A checked snapshot in the folder `draft`. undefined: the store, or none, is right. */
type Taken = {readonly draft: string} | SnapshotMiss | undefined;

/**
 * Call before the store is opened. An interrupted snapshot is retried. @returns why a snapshot was refused
 * @throws WorkError for invalid flags; the signal's reason
 */
export async function takeSnapshot(
  target: SnapshotTarget,
  log: Logger,
  signal: AbortSignal,
): Promise<SnapshotMiss | undefined> {
  const backoff = new Backoff(WAITS);
  let said = "";
  await takePlace(target.directory);
  for (;;) {
    const own = await openOwn(target.directory);
    let reason: string;
    try {
      const taken = await takeOnce(target, own, undefined, log, signal).finally(() => own?.close());
      if (taken === undefined) return undefined;
      if ("draft" in taken) {
        renameSync(taken.draft, takenOf(target.directory));
        await takePlace(target.directory);
        return undefined;
      }
      if (own !== undefined) return taken.block === undefined ? undefined : taken;
      reason = taken.reason;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WorkError) throw error;
      reason = (error as Error).message;
    }
    if (reason !== said) log.warn({state: "waiting", reason}, "no usable snapshot of the feed yet; retrying");
    said = reason;
    await sleep(backoff.next(), undefined, {signal}).catch(() => signal.throwIfAborted());
  }
}

/** One attempt for a served store. @returns why none replaces it; undefined: one does at the next start */
export async function takeBesideServed(
  target: SnapshotTarget,
  own: OwnStore,
  refused: SnapshotMiss | undefined,
  isNeeded: () => boolean,
  log: Logger,
  signal: AbortSignal,
): Promise<SnapshotMiss | undefined> {
  const taken = (await takeOnce(target, own, refused, log, signal)) ?? {reason: ""};
  if ("reason" in taken) return taken;
  if (isNeeded()) {
    renameSync(taken.draft, takenOf(target.directory));
    return undefined;
  }
  rmSync(taken.draft, {recursive: true});
  return {reason: ""};
}

/** @param own - closed by the caller. @throws WorkError, and whatever interrupts it */
async function takeOnce(
  target: SnapshotTarget,
  own: OwnStore | undefined,
  refused: SnapshotMiss | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<Taken> {
  const {directory, feed} = target;
  const {newest} = own ?? {};
  const chainId = newest?.chainId ?? target.chainId;
  if (chainId === undefined) {
    if (own === undefined)
      throw new SettingsError("--feed: --chain-id must name the chain of an empty store");
    return undefined;
  }
  const connection = await connectWithin(feed, own === undefined ? undefined : SERVED_WAIT_MS, log, signal);
  if (connection === undefined) return undefined; // the store is served, and the import keeps trying
  const oldServer = own?.isServed === true ? undefined : describeOldServer(connection); // said at the start
  if (oldServer !== undefined) log.warn({reason: oldServer}, "the NATS server is too old for a feed");
  // What waits for an answer then fails at once.
  const end = (): void => void connection.close();
  signal.addEventListener("abort", end);
  try {
    const suite = newest?.suite ?? target.suite;
    const chain = {suite, chainId};
    const lack = await findLack(connection, feed.stream, chain, own, signal);
    if (own !== undefined && lack === undefined) return undefined;
    const store = await SnapshotStore.open(connection, feed.stream, chain);
    const list = await store?.readList(signal);
    const fields = {stream: feed.stream, latest: newest?.block, lack};
    if (store === undefined || list === undefined) {
      if (own === undefined && lack !== undefined) return {reason: `the feed has no snapshot yet: ${lack}`};
      if (own !== undefined) return {reason: "The feed has no snapshot"};
      log.info(fields, "the feed has no snapshot: blocks are taken from the beginning of its stream");
      return undefined;
    }
    if (list.suite !== suite)
      throw new SettingsError(
        `--feed: its snapshot has the suite ${list.suite}: expected ${suite} (--suite)`,
      );
    if (own !== undefined && newest !== undefined) {
      if (list.block <= newest.block) return {reason: `The feed's newest snapshot is of block ${list.block}`};
      if (list.block === refused?.block) return refused;
      if (!own.isServed && (await isInUse(directory)))
        throw new WorkError(`--feed: the store in ${directory} is in use: ${describeHolder(directory)}`);
      log.warn(
        {...fields, snapshot: list.block},
        "the stream does not continue the store: a snapshot will replace it",
      );
    }
    const draft = await download(directory, store, list, log, signal);
    const contradiction = own && (await compare(own, draft));
    if (contradiction === undefined) return {draft};
    rmSync(draft, {recursive: true});
    log.error(
      {...fields, snapshot: list.block, reason: contradiction},
      "the snapshot is refused: the store stays as it is",
    );
    const reason = `The feed's snapshot of block ${list.block} was refused: ${contradiction}`;
    return {reason, block: list.block};
  } finally {
    signal.removeEventListener("abort", end);
    await connection.close();
  }
}

/** @param withinMs - default: no limit. @returns undefined if NATS did not answer in time */
async function connectWithin(
  {nats, client}: FeedSource,
  withinMs: number | undefined,
  log: Logger,
  signal: AbortSignal,
): Promise<NatsConnection | undefined> {
  const within = withinMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
  let said = "";
  try {
    return await connectNats(nats, client, within, ({isUp, reason}) => {
      if (!isUp && !isSameFailure(said, reason))
        log.warn({reason}, "NATS does not answer; it is tried again");
      said = reason;
    });
  } catch (error) {
    if (withinMs === undefined || signal.aborted || !within.aborted) throw error;
    return undefined;
  }
}

/** @returns undefined for no store, or one without a block. @throws WorkError for one that cannot be read */
async function openOwn(directory: string): Promise<OwnStore | undefined> {
  if (!existsSync(join(directory, "CURRENT"))) return undefined;
  try {
    return {...(await openFiles(directory, directory)), isServed: false};
  } catch (error) {
    if (error instanceof StoreError && error.code === "BLOCK_UNKNOWN") return undefined;
    throw openFailed(directory, error);
  }
}

/** @returns why the stream does not continue the store; undefined if it does, or both are empty */
async function findLack(
  connection: NatsConnection,
  name: string,
  chain: FeedChain,
  own: OwnStore | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const empty = own && "the stream has no block";
  try {
    const stream = await FeedStream.open(connection, name, chain);
    const {newest, reader} = own ?? {};
    const {block: latest = -1} = newest ?? {};
    const tip = await stream.readTip();
    if (tip.block === undefined) return empty;
    const {lack} = await findPath(
      stream,
      tip,
      {
        latest,
        finalized: newest?.finalized ?? -1,
        finalizations: reader?.finalizations.count() ?? 0,
        hashOf: block => (block > latest ? undefined : reader?.readBlockHash(block)),
      },
      signal,
    );
    return lack;
  } catch (error) {
    if (error instanceof StreamMissing) return empty;
    throw error;
  }
}

/** @returns the folder with its files, which are complete and checked */
async function download(
  directory: string,
  store: SnapshotStore,
  list: SnapshotList,
  log: Logger,
  signal: AbortSignal,
): Promise<string> {
  const draft = `${directory}.taking`;
  const startMs = performance.now();
  mkdirSync(draft, {recursive: true});
  const names = new Set(list.files.map(({name}) => name));
  for (const name of readdirSync(draft)) if (!names.has(name)) rmSync(join(draft, name), {recursive: true});
  const total = list.files.reduce((sum, file) => sum + file.bytes, 0);
  log.info({block: list.block, files: list.files.length, bytes: total}, "downloading a snapshot of the feed");
  let done = 0;
  let nextMs = startMs + PROGRESS_EVERY_MS;
  for (const file of list.files) {
    signal.throwIfAborted();
    const path = join(draft, file.name);
    if (!(await isComplete(path, file))) await store.get(file, path, signal);
    done += file.bytes;
    if (performance.now() < nextMs) continue;
    nextMs += PROGRESS_EVERY_MS;
    log.info({bytes: done, of: total}, "the snapshot is being downloaded");
  }
  await checkDraft(draft, list, signal);
  const ms = Math.round(performance.now() - startMs);
  log.info({block: list.block, ms}, "the snapshot is complete and verified");
  return draft;
}

/** Marks the store's finality in the snapshot. @returns why it must not replace the store; undefined if it may */
async function compare(own: OwnStore, draft: string): Promise<string | undefined> {
  const {newest, reader, close} = await openFiles(draft, draft);
  try {
    const contradiction = findContradiction(own, {newest, reader});
    if (contradiction !== undefined) return contradiction;
  } finally {
    close();
  }
  const {finalized = -1} = own.newest;
  if (finalized <= (newest.finalized ?? -1)) return undefined;
  const store = await StateStore.open({directory: draft, role: "owner", cacheBytes: MARKING_CACHE_BYTES});
  try {
    const writer = await BlockWriter.create(store);
    writer.finalizeStored(finalized);
    await writer.flush();
  } finally {
    await store.close();
  }
  return undefined;
}

/** Replaces the store. Also called after a process that was killed in here. */
async function takePlace(directory: string): Promise<void> {
  const taken = takenOf(directory);
  if (!existsSync(taken) || (await isInUse(directory))) return; // to open it is refused then
  rmSync(directory, {recursive: true, force: true});
  renameSync(taken, directory);
}

function takenOf(directory: string): string {
  return `${directory}.taken`;
}

async function checkDraft(draft: string, list: SnapshotList, signal: AbortSignal): Promise<void> {
  const newest = await readNewestBlock(draft, draft);
  if (newest.block !== list.block || toHex(newest.stateRoot) !== list.stateRoot)
    throw new FeedError(
      `the snapshot: expected block ${list.block} with the state root ${list.stateRoot}, got block ${newest.block} with ${toHex(newest.stateRoot)}`,
    );
  signal.throwIfAborted();
  const findings: string[] = [];
  const checking = startCheck({directory: draft, extent: "records", sample: SAMPLE}, event => {
    if (event.kind === "finding") findings.push(`${event.where}: ${event.what}`);
  });
  const stop = (): void => checking.stop();
  signal.addEventListener("abort", stop);
  const outcome = await checking.outcome;
  signal.removeEventListener("abort", stop);
  signal.throwIfAborted();
  if (outcome.findings > 0) {
    rmSync(draft, {recursive: true});
    throw new FeedError(`the snapshot is damaged: ${findings[0]}`);
  }
}

async function isComplete(path: string, {bytes, sha256}: SnapshotFile): Promise<boolean> {
  if (!existsSync(path) || statSync(path).size !== bytes) return false;
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex") === sha256;
}
