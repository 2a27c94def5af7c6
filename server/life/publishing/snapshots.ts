/**
 * Uploads snapshots while the service publishes: if the feed has none, if the newest one does not reach the stream, and whenever so many
 * blocks came since. What fails is logged and in /readyz, and tried again.
 */
import type {Logger} from "pino";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {SnapshotStore} from "../../../nodes/feed/snapshotStore.ts";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import type {SnapshotOutcome} from "../../../workers/messages/snapshotJob.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import type {PublishStatus} from "../../observe/publishStatus.ts";
import type {PublishSettings} from "../serviceOptions.ts";
import type {PublishState} from "./publisher.ts";

/** From one look at what the feed has to the next. */
const LOOK_MS = 2000;
/** Each attempt may copy gigabytes. */
const RETRIES = {firstMs: 4000, longestMs: 300_000};

type Published = Extract<PublishState, {kind: "published"}>;

export class Snapshots {
  private running: Running<SnapshotOutcome> | undefined;
  private work: Promise<void> = Promise.resolve();
  private isStopped = false;
  private nextLookMs = 0;
  private readonly retries = new Backoff(RETRIES);

  constructor(
    private readonly directory: string,
    private readonly settings: PublishSettings,
    private readonly status: PublishStatus,
    private readonly log: Logger,
  ) {}

  /** Called while the stream has all blocks that are held. Publishing does not wait for it. */
  note(connection: NatsConnection, chain: FeedChain, state: Published): void {
    if (this.settings.snapshots.every === 0 || this.isStopped || performance.now() < this.nextLookMs) return;
    this.nextLookMs = Number.POSITIVE_INFINITY;
    this.work = this.look(connection, chain, state).catch(() => {
      // NATS is away, which publishing finds out and says.
      this.nextLookMs = performance.now() + LOOK_MS;
    });
  }

  /** Looks at what the feed has, and uploads a snapshot if it needs one. @throws NatsAway */
  private async look(connection: NatsConnection, chain: FeedChain, {block, since}: Published): Promise<void> {
    const {nats, stream, rules, snapshots} = this.settings;
    const {every, bytesPerSecond} = snapshots;
    const newest = await SnapshotStore.newestBlock(connection, stream, chain);
    this.status.snapshotBlock = newest;
    const least = Math.max(block - every + 1, since - 1);
    if (this.isStopped || (newest !== undefined && newest >= least)) {
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
    this.settle(await this.running.outcome);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.running?.stop();
    await this.work;
  }

  private settle(outcome: SnapshotOutcome): void {
    this.running = undefined;
    if ("failure" in outcome) {
      this.nextLookMs = performance.now() + this.retries.next();
      this.status.snapshotFailure = outcome.failure;
      if (!this.isStopped)
        this.log.warn({reason: outcome.failure}, "no snapshot was uploaded; it is tried again");
      return;
    }
    this.nextLookMs = performance.now() + LOOK_MS;
    this.retries.reset();
    this.status.snapshotFailure = "";
    if ("heldBlock" in outcome) this.status.snapshotBlock = outcome.heldBlock;
    else {
      this.status.snapshotBlock = outcome.block;
      this.log.info(outcome, "a snapshot for replicas was uploaded");
    }
  }
}
