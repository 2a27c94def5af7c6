/** What a service is started with: flags of `proofd serve` (docs/operations.md). Tests write it down. */

import type {NodesSettings} from "../../nodes/rpc/nodes.ts";
import type {History} from "../../storage/prune/retention.ts";
import type {EstimateSettings} from "../../workers/messages/estimateSettings.ts";
import type {FeedSource, NodeSource} from "../../workers/messages/importSource.ts";
import type {Limits} from "../limits.ts";
import type {ListenerOptions} from "../listener/createListener.ts";
import type {Layer1Settings} from "./finality/layer1Finality.ts";
import type {PublishSettings} from "./publishing/publishSettings.ts";

export interface FeedOptions {
  /** Where blocks are published. undefined: nowhere. */
  readonly publish: PublishSettings | undefined;
  /** Where blocks come from; not with `diffs` or `l2`. */
  readonly feed: FeedSource | undefined;
}

export interface ServiceOptions extends ListenerOptions, Partial<FeedOptions> {
  readonly db: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly cacheBytes: number;
  readonly diffs?: string | undefined;
  /** Nodes that are followed; not with `diffs`. */
  readonly l2?: NodeSource | undefined;
  readonly allowUnverified?: boolean | undefined;
  readonly finalized?: number | "last" | undefined;
  /** Highest age of the newest block, in seconds, at which the service counts as ready; only with `diffs` or `l2`. */
  readonly maxLagSeconds?: number | undefined;
  /** Highest age of the newest finalized block, in seconds, at which the service counts as ready. */
  readonly maxFinalityLagSeconds?: number | undefined;
  readonly finality?: FinalityOptions | undefined;
  readonly demo?: boolean;
  readonly verify?: boolean;
  readonly chainId?: bigint | undefined;
  readonly suite?: string | undefined;
  readonly history: History;
  readonly cors: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly namespace?: string | undefined;
  /** HTTP 503 for requests that name a block that is not here yet, so that a balancer asks another service. */
  readonly isBalanced?: boolean;
  /** Proxies whose X-Forwarded-For is believed: addresses and networks. */
  readonly trustForwarded?: readonly string[] | undefined;
  readonly limits: Limits;
  readonly estimate: EstimateOptions;
}

export type FinalityOptions =
  | {
      readonly source: "l1";
      readonly nodes: NodesSettings;
      /** Whose blocks are finalized. undefined: they come from files. */
      readonly layer2: NodesSettings | undefined;
      readonly rollup: Layer1Settings;
      readonly pollMs: number;
    }
  | {readonly source: "tag"; readonly nodes: NodesSettings; readonly pollMs: number};

export interface EstimateOptions {
  readonly settings: EstimateSettings;
  /** Number of threads that estimate. Not used unless `isEnabled`. */
  readonly workers: number;
  /** false if this node runs without the sequencer extension. */
  readonly isEnabled: boolean;
  /** The node that estimates are forwarded to. Set only if not `isEnabled`. */
  readonly gateway: URL | undefined;
}
