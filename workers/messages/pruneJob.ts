/** The search for the pages that pruning removes: its job, and what comes back. */
import type {PruneRun} from "../../storage/prune/pruneRecord.ts";

export interface PruneJob {
  readonly run: PruneRun;
  /** Search from the start, and not from where the last job of this run ended: pages that it gave were not removed. */
  readonly restarts: boolean;
}

export interface FoundPages {
  /** To be removed before the next job of this run, in this order. May be empty before the search is done. */
  readonly pages: Float64Array;
  readonly isDone: boolean;
}
