/**
 * Uploads snapshots while the service publishes: if the feed has none, if the stream does not continue the newest one,
 * and every so many blocks. Failures are retried.
 *
 *   snapshot   .. 20                                a replica starts with it, and needs 21 to 61
 *   stream     .. 20 .. 29  gap 59  60  61          it lacks 30 to 59: a snapshot of 59 or later is needed
 *
 * So the stream is read from its end back to the snapshot's block, and later back to where the previous read began.
 */
import type {Logger} from "pino";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import {findPath} from "../../../nodes/feed/feedPath.ts";
import type {FeedStream} from "../../../nodes/feed/feedStream.ts";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {SnapshotStore} from "../../../nodes/feed/snapshotStore.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import {isSame} from "../../../storage/hex.ts";
import type {ChainView} from "../../../workers/chain/chainView.ts";
import type {SnapshotOutcome} from "../../../workers/messages/snapshotJob.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import type {PublishStatus} from "../../observe/publishStatus.ts";
import type {PublishSettings} from "../serviceOptions.ts";
import type {PublishState} from "./publisher.ts";

/** Between two reads of the feed. */
const LOOK_MS = 2000;
/** Each attempt may copy gigabytes. */
const RETRIES = {firstMs: 4000, longestMs: 300_000};

type Published = Extract<PublishState, {kind: "published"}>;

/** From the message `first` on, the stream has all blocks after the snapshot's up to `to`. */
interface Proven {
  readonly snapshot: number;
  readonly first: number;
  readonly to: number;
  readonly hash: Uint8Array;
}

export class Snapshots {
  private running: Running<SnapshotOutcome> | undefined;
  private work: Promise<void> = Promise.resolve();
  private nextLookMs = 0;
  private readonly retries = new Backoff(RETRIES);
  private readonly stopping = new AbortController();
  private proven: Proven | undefined;
  /** A replica that has this block finds all later ones in the stream; -1: as far as known, it finds all. */
  private start = -1;

  constructor(
    private readonly directory: string,
    private readonly chain: ChainView,
    private readonly settings: PublishSettings,
    private readonly status: PublishStatus,
    private readonly log: Logger,
  ) {}

  /** @param gap - of a PublishState. @returns why replicas need a snapshot; "" if they do not */
  describeGap(gap: number): string {
    const start = Math.max(gap, this.start);
    if ((this.status.snapshotBlock ?? -1) >= start) return "";
    const upload = this.settings.snapshots.every === 0 ? "--snapshot-every is 0" : "it is being uploaded";
    return `the stream does not have what blocks up to ${start} changed, which was not kept here: replicas need a snapshot of block ${start} or a later one (${upload})`;
  }

  /** Called while the stream ends with the newest stored block. Publishing does not wait for it. */
  note(connection: NatsConnection, chain: FeedChain, stream: FeedStream, state: Published): void {
    if (this.stopping.signal.aborted || performance.now() < this.nextLookMs) return;
    this.nextLookMs = Number.POSITIVE_INFINITY;
    this.work = this.look(connection, chain, stream, state).catch(() => {
      // NATS is away, which publishing notices and reports.
      this.nextLookMs = performance.now() + LOOK_MS;
    });
  }

  /** Uploads a snapshot if the feed needs one. @throws NatsAway */
  private async look(
    connection: NatsConnection,
    chain: FeedChain,
    feed: FeedStream,
    {block, gap}: Published,
  ): Promise<void> {
    const {nats, stream, rules, snapshots} = this.settings;
    const {every, bytesPerSecond} = snapshots;
    const newest = await SnapshotStore.newestBlock(connection, stream, chain);
    this.status.snapshotBlock = newest;
    if (newest !== undefined) this.start = await this.findStart(feed, newest);
    const least = Math.max(every === 0 ? -1 : block - every + 1, gap, this.start);
    const isDone = every === 0 || (newest !== undefined && newest >= least);
    if (this.stopping.signal.aborted || isDone) {
      this.nextLookMs = performance.now() + LOOK_MS;
      return;
    }
    this.running = startSnapshotUpload({
      directory: this.directory,
      nats,
      stream,
      chain,
      replicas: rules.replicas,
      bytesPerSecond,
      unlessFrom: least,
    });
    this.noteUpload(await this.running.outcome);
  }

  /** @returns -1 if the stream has all blocks after the snapshot's. @throws NatsAway; the signal's reason */
  private async findStart(feed: FeedStream, snapshot: number): Promise<number> {
    const {chain, proven} = this;
    const tip = await feed.readTip();
    const isKnown =
      proven !== undefined &&
      proven.snapshot === snapshot &&
      proven.first >= tip.firstSequence &&
      isSame(chain.readHash(proven.to), proven.hash);
    const latest = isKnown ? proven.to : snapshot;
    const hashOf = (block: number) => (block > latest ? undefined : chain.readHash(block));
    const unfinal = {...tip, finality: undefined};
    const path = await findPath(feed, unfinal, {latest, hashOf}, this.stopping.signal);
    const {newest, lack, start} = path;
    const to = newest?.number ?? -1;
    this.proven =
      lack !== undefined || newest === undefined
        ? undefined
        : {snapshot, first: isKnown ? proven.first : path.from, to, hash: newest.hash};
    return start;
  }

  async stop(): Promise<void> {
    this.stopping.abort(new Error("stopped"));
    this.running?.stop();
    await this.work;
  }

  private noteUpload(outcome: SnapshotOutcome): void {
    this.running = undefined;
    if ("failure" in outcome) {
      this.nextLookMs = performance.now() + this.retries.next();
      this.status.snapshotFailure = outcome.failure;
      if (!this.stopping.signal.aborted)
        this.log.warn({reason: outcome.failure}, "no snapshot was uploaded; it is tried again");
      return;
    }
    this.nextLookMs = performance.now() + LOOK_MS;
    this.retries.reset();
    this.status.snapshotFailure = "";
    if ("uploadedBlock" in outcome) this.status.snapshotBlock = outcome.uploadedBlock;
    else {
      this.status.snapshotBlock = outcome.block;
      this.log.info(outcome, "a snapshot for replicas was uploaded");
    }
  }
}
