/** The state of the source of --diffs, --l2 or --feed, for /metrics and /readyz. */
import type {NodeSourceName} from "../../workers/messages/importSource.ts";

/**
 * "ended": no more lines can come. "failed": the import stopped, for example at a refused block or a full disk.
 * "behind": the feed does not continue the store, which needs a snapshot.
 */
export const SOURCE_STATES = ["reading", "following", "waiting", "behind", "ended", "failed"] as const;

export class SourceStatus {
  /** How blocks are read from the nodes; undefined before it is chosen, and for files. */
  chosen: NodeSourceName | undefined;
  /** The block that the import is on the way to; undefined before it is known, and for files. */
  target: number | undefined;
  state: (typeof SOURCE_STATES)[number] = "reading";
  /** Why the import failed or is behind, or what is waited for. Empty in all other states. */
  reason = "";
  /** By name, the nodes of --l2 that are not up: their state and its cause. */
  readonly nodes = new Map<string, {readonly state: string; readonly reason: string}>();
  /** When this process last stored a block durably, in ms since 1970. undefined if it has stored none. */
  receivedMs: number | undefined;
  /** Blocks that imports have stored. A block that comes again after a rollback counts again. */
  blocks = 0;
  /** Working time of the import thread. */
  busyMs = 0;
  /** Number of attempts to continue after a failure. */
  retries = 0;
  /** How often blocks were removed, because the node's chain was reorganised. */
  reorganisations = 0;
  /** Account resets that could not be checked. */
  openResets = 0;
  /** Blocks that changed more slots of the contracts in slices than their traces name. */
  incompleteSlices = 0;

  /** Nothing is imported until another attempt succeeds. */
  get hasFailed(): boolean {
    return this.state === "failed" || this.state === "behind";
  }

  constructor(readonly flag: "diffs" | "l2" | "feed") {}
}
