/** What a service is started with. Its command fills it from flags; tests write it down. */
import type {Limits} from "../server/limits.ts";
import type {History} from "../storage/prune/retention.ts";
import type {NodesSettings} from "../sync/rpc/nodes.ts";
import type {EstimateSettings} from "../workers/job/estimateSettings.ts";
import type {NodeSource} from "../workers/job/importSource.ts";
import type {Layer1Settings} from "./finality/layer1Finality.ts";

export interface ServiceOptions {
  /** Folder of the store. */
  readonly db: string;
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly workers: number;
  readonly cacheBytes: number;
  /** A file of block differences, or "-". */
  readonly diffs?: string | undefined;
  /** Nodes that are followed; not with `diffs`. */
  readonly l2?: NodeSource | undefined;
  /** Blocks of the source up to this one are finalized, as are those that lines of `diffs` mark. */
  readonly finalized?: number | "last" | undefined;
  /** Highest age of the newest block, in seconds, at which the service counts as ready; only with `diffs` or `l2`. */
  readonly maxLagSeconds?: number | undefined;
  /** Highest age of the newest finalized block, in seconds, at which the service counts as ready. */
  readonly maxFinalityLagSeconds?: number | undefined;
  /** What tells which blocks are finalized, besides imports and orders. */
  readonly finality?: FinalityOptions | undefined;
  readonly demo?: boolean;
  /** Compare the checksums of the tables after the start. */
  readonly verify?: boolean;
  readonly chainId?: bigint | undefined;
  readonly suite?: string | undefined;
  /** Which finalized blocks are kept. */
  readonly history: History;
  /** Origins whose web pages may send requests. Empty: no page may. */
  readonly cors: readonly string[];
  /** Names by which requests may call the server, besides localhost. */
  readonly allowedHosts?: readonly string[];
  /** Prefix of the methods for clients of a network's own server. */
  readonly namespace?: string | undefined;
  readonly logRequests?: boolean;
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
