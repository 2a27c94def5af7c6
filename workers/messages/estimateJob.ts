/** A job of gas estimates: what the main thread hands to an estimate thread, and what comes back. */
import type {Answers} from "./answers.ts";
import type {EstimateCall} from "./estimateCall.ts";

export interface EstimateJob {
  readonly calls: readonly EstimateCall[];
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /** Each call gets a first slice (estimateSlice.ts). Default: the settings' whole time. */
  readonly isFirst?: boolean;
}

/** Calls that are unfinished or were not begun have an empty range and no entry in `failures`. */
export interface EstimateAnswers extends Answers {
  /** Calls whose slice was too short. */
  readonly unfinished: readonly number[];
  /** How many calls were begun, counted from the first. The others can be sent again. */
  readonly begun: number;
}
