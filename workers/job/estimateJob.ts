/** Gas estimates to make: what the main thread hands to an estimate thread, and what comes back. */
import type {Answers} from "./answers.ts";
import type {EstimateCall} from "./estimateCall.ts";

export interface EstimateJob {
  readonly calls: readonly EstimateCall[];
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /** Each call gets so much time now (estimateSlices.ts); left out: all that the settings allow. */
  readonly slice?: EstimateSlice;
}

export type EstimateSlice = "first" | "second";

/** The calls named here have an empty range and no entry in `failures`. */
export interface EstimateAnswers extends Answers {
  /** Calls whose slice was over before they were. */
  readonly unfinished: readonly number[];
  /** The first so many calls were begun; the others may be asked for again as if they had never come. */
  readonly begun: number;
}
