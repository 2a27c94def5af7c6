/**
 * How long a call may take before it has to wait behind the short ones, and then begins again: an execution cannot be put aside.
 *
 *   first    3 ms     a transfer takes 0.2, an ERC-20 transfer 1: nearly all calls end here
 *   second   50 ms    a thousand slots written; code that nobody has run yet
 *   (none)   --estimate-time, on threads of their own
 *
 * 64 endless calls that come at once hold up a short one for 64 first slices. With 20 ms in place of 3 that were 1.3 s.
 */
import type {EstimateSlice} from "./estimateJob.ts";

export interface Slice {
  /** Of the thread's time, which the kernel tells to 4 ms (its tick): a first slice ends after 3 to 6. */
  readonly ms: number;
  /**
   * By the clock, for reads that wait for a disk. Much more than `ms`, or calls would lose their place for nothing while other
   * processes have the processor: of ERC-20 transfers every third did.
   */
  readonly clockMs: number;
}

export const SLICES: Readonly<Record<EstimateSlice, Slice>> = {
  first: {ms: 3, clockMs: 50},
  second: {ms: 50, clockMs: 200},
};

/** By the clock a call without a slice may take so many times its limit, however little of a processor it got. */
export const MAX_STRETCH = 4;

/** After it a job with a slice begins no further call: whoever waits for its first ones waits no longer than that and a slice. */
export const JOB_MS = 2;
