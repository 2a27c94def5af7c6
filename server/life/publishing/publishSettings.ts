/** Where blocks are published, and how: flags of `proofd serve`. */
import type {StreamRules} from "../../../nodes/feed/feedStream.ts";
import type {NatsSettings} from "../../../nodes/feed/natsConnection.ts";

export interface PublishSettings {
  readonly nats: NatsSettings;
  readonly stream: string;
  /** With which a stream is made that is not there. */
  readonly rules: StreamRules;
  readonly snapshots: {
    /** Blocks from one snapshot to the next; 0: none is uploaded. */
    readonly every: number;
    readonly bytesPerSecond: number;
  };
}
