/** The options of a service, from the flags of `proofd serve` (docs/operations.md). */

import type {StreamRules} from "../../nodes/feed/feedStream.ts";
import type {NatsSettings} from "../../nodes/feed/natsConnection.ts";
import type {NodesSettings} from "../../nodes/rpc/nodes.ts";
import type {History} from "../../storage/prune/retention.ts";
import type {EstimateOptions} from "../../workers/engine.ts";
import type {FeedSource, ImportSource, NodeSource} from "../../workers/messages/importSource.ts";
import type {FrontOptions} from "../front.ts";
import type {Layer1Settings} from "./finality/layer1Finality.ts";

export interface PublishSettings {
  readonly nats: NatsSettings;
  readonly stream: string;
  /** Of a stream that is created. */
  readonly rules: StreamRules;
  readonly snapshots: {
    /** Blocks between two snapshots; 0: none is uploaded. */
    readonly every: number;
    readonly bytesPerSecond: number;
  };
}

/** What is imported while requests are answered. "-" is standard input. */
export type FollowedSource = Extract<ImportSource, {readonly kind: "diffs" | "node" | "feed"}>;

export interface ServiceOptions extends FrontOptions {
  readonly db: string;
  readonly workers: number;
  readonly cacheBytes: number;
  readonly diffs?: string | undefined;
  /** Nodes that are followed; not with `diffs`. */
  readonly l2?: NodeSource | undefined;
  /** Fetches a second, from `l2`, of slots that a slice lacks; 0: none. */
  readonly sliceFetches: number;
  /** A stream that blocks come from; not with `diffs` or `l2`. */
  readonly feed?: FeedSource | undefined;
  readonly publish?: PublishSettings | undefined;
  readonly allowUnverified?: boolean | undefined;
  readonly finalized?: number | "last" | undefined;
  readonly finality?: FinalityOptions | undefined;
  readonly demo?: boolean;
  readonly verify?: boolean;
  readonly chainId?: bigint | undefined;
  readonly suite?: string | undefined;
  readonly history: History;
  /** With 0 threads, none are made here. */
  readonly estimate: EstimateOptions;
  /** The node that calls are forwarded to. */
  readonly gateway?: URL | undefined;
}

export type FinalityOptions =
  | {
      readonly source: "l1";
      readonly nodes: NodesSettings;
      /** Nodes with the blocks to finalize. undefined: the blocks come from files. */
      readonly layer2: NodesSettings | undefined;
      readonly rollup: Layer1Settings;
      readonly pollMs: number;
    }
  | {readonly source: "tag"; readonly nodes: NodesSettings; readonly pollMs: number};
