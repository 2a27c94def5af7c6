/** A job of gas estimates: what the main thread hands to an estimate thread, and what comes back. */
import type {Answers} from "./answers.ts";
import type {EstimateCall} from "./estimateCall.ts";
import type {PausedEstimate} from "./pausedEstimate.ts";

export interface EstimateJob {
  readonly calls: readonly EstimateCall[];
  /** JSON texts of the calls' ids, one per call. */
  readonly ids: readonly string[];
  /** The time that each call gets in this job (estimateSlices.ts). Default: all that is left of the settings' time. */
  readonly slice?: EstimateSlice;
  /** What the job's only call goes on with. Default: it begins. */
  readonly paused?: PausedEstimate | undefined;
}

export type EstimateSlice = "first" | "second";

export interface UnfinishedEstimate {
  readonly call: number;
  /** undefined: it begins again. */
  readonly paused: PausedEstimate | undefined;
}

/** Calls that are unfinished or were not begun have an empty range and no entry in `failures`. */
export interface EstimateAnswers extends Answers {
  readonly unfinished: readonly UnfinishedEstimate[];
  /** How many calls were begun, counted from the first. The others may be sent again as if they had never come. */
  readonly begun: number;
}
