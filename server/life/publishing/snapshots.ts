/**
 * Uploads snapshots while the service publishes: if the feed has none, if the newest one does not reach the stream, and whenever so many
 * blocks came since. What fails is logged, and tried again.
 */
import type {Logger} from "pino";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import type {NatsConnection} from "../../../nodes/feed/natsConnection.ts";
import {SnapshotStore} from "../../../nodes/feed/snapshotStore.ts";
import type {SnapshotOutcome} from "../../../workers/messages/snapshotJob.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import type {PublishStatus} from "../../observe/publishStatus.ts";
import type {PublishSettings} from "../serviceOptions.ts";
import type {PublishState} from "./publisher.ts";

/** From one look at what the feed has to the next. */
const LOOK_MS = 2000;
const RETRY_MS = 10_000;

export class Snapshots {
  private running: Running<SnapshotOutcome> | undefined;
  private work: Promise<void> = Promise.resolve();
  private isStopped = false;
  private nextLookMs = 0;

  constructor(
    private readonly directory: string,
    private readonly settings: PublishSettings,
    private readonly status: PublishStatus,
    private readonly log: Logger,
  ) {}

  /** Called while the stream has all blocks that are held. @throws FeedError, what NATS throws */
  async look(
    connection: NatsConnection,
    chain: FeedChain,
    {block, since}: Extract<PublishState, {kind: "published"}>,
  ): Promise<void> {
    const {nats, stream, rules, snapshots} = this.settings;
    const {every, bytesPerSecond} = snapshots;
    if (every === 0 || this.isStopped || this.running !== undefined || performance.now() < this.nextLookMs)
      return;
    this.nextLookMs = performance.now() + LOOK_MS;
    const newest = await SnapshotStore.newestBlock(connection, stream, chain);
    this.status.snapshotBlock = newest;
    const least = Math.max(block - every + 1, since - 1);
    if (this.isStopped || (newest !== undefined && newest >= least)) return;
    this.running = startSnapshotUpload({
      directory: this.directory,
      nats,
      stream,
      chain,
      replicas: rules.replicas,
      bytesPerSecond,
      unlessFrom: least,
    });
    this.work = this.running.outcome.then(outcome => this.settle(outcome));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.running?.stop();
    await this.work;
  }

  private settle(outcome: SnapshotOutcome): void {
    this.running = undefined;
    if ("failure" in outcome) {
      this.nextLookMs = performance.now() + RETRY_MS;
      if (!this.isStopped)
        this.log.warn({reason: outcome.failure}, "no snapshot was uploaded; it is tried again");
      return;
    }
    this.nextLookMs = 0;
    if ("heldBlock" in outcome) this.status.snapshotBlock = outcome.heldBlock;
    else {
      this.status.snapshotBlock = outcome.block;
      this.log.info(outcome, "a snapshot for replicas was uploaded");
    }
  }
}
