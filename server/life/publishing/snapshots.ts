/**
 * Uploads snapshots while the service publishes: one at the start if there is none, and one whenever so many blocks came since the
 * newest one. What fails is logged, and tried again with a later block.
 */
import type {Logger} from "pino";
import type {FeedChain} from "../../../nodes/feed/feedMessage.ts";
import type {SnapshotOutcome} from "../../../workers/messages/snapshotJob.ts";
import type {Running} from "../../../workers/threads/running.ts";
import {startSnapshotUpload} from "../../../workers/threads/snapshotUpload.ts";
import type {PublishStatus} from "../../observe/publishStatus.ts";
import type {PublishSettings} from "../serviceOptions.ts";

/** After a failure, so many blocks come before the next attempt. */
const RETRY_BLOCKS = 16;

export class Snapshots {
  private running: Running<SnapshotOutcome> | undefined;
  private work: Promise<void> = Promise.resolve();
  private isStopped = false;
  /** The first published block that asks for a snapshot. */
  private due = 0;

  constructor(
    private readonly directory: string,
    private readonly settings: PublishSettings,
    private readonly status: PublishStatus,
    private readonly log: Logger,
  ) {}

  /** Called when the stream has this block. */
  note(block: number, chain: FeedChain): void {
    const {every, bytesPerSecond} = this.settings.snapshots;
    if (every === 0 || block < this.due || this.isStopped || this.running !== undefined) return;
    this.due = Number.POSITIVE_INFINITY;
    const {nats, stream, rules} = this.settings;
    this.running = startSnapshotUpload({
      directory: this.directory,
      nats,
      stream,
      chain,
      replicas: rules.replicas,
      bytesPerSecond,
      unlessFrom: block - every + 1,
    });
    this.work = this.running.outcome.then(outcome => this.settle(outcome, block));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.running?.stop();
    await this.work;
  }

  private settle(outcome: SnapshotOutcome, block: number): void {
    const {every} = this.settings.snapshots;
    this.running = undefined;
    if ("failure" in outcome) {
      this.due = block + Math.min(every, RETRY_BLOCKS);
      if (!this.isStopped)
        this.log.warn({reason: outcome.failure}, "no snapshot was uploaded; it is tried again");
      return;
    }
    const newest = "heldBlock" in outcome ? outcome.heldBlock : outcome.block;
    this.due = newest + every;
    this.status.snapshotBlock = newest;
    if ("heldBlock" in outcome) this.log.info({block: newest}, "there is a snapshot for replicas");
    else this.log.info(outcome, "a snapshot for replicas was uploaded");
  }
}
