/** Uploading a snapshot of a store for replicas: the job, and what comes back. */
import type {FeedChain} from "../../nodes/feed/feedMessage.ts";
import type {NatsSettings} from "../../nodes/feed/natsConnection.ts";

export interface SnapshotJob {
  /** Of the store. The snapshot is made beside it, and removed. */
  readonly directory: string;
  readonly nats: NatsSettings;
  readonly stream: string;
  readonly chain: FeedChain;
  /** Servers that have each object. */
  readonly replicas: number;
  readonly bytesPerSecond: number;
  /** Nothing is uploaded while the newest snapshot there is of this block or a later one. */
  readonly unlessFrom: number;
}

export type SnapshotOutcome =
  | {
      readonly block: number;
      readonly files: number;
      readonly bytes: number;
      readonly sentBytes: number;
      readonly ms: number;
    }
  /** There is a snapshot of this block already. */
  | {readonly uploadedBlock: number}
  | {readonly failure: string};
