/**
 * How long a call may run before it must wait behind the short ones. Its run is paused then, and goes on in the next slice, on
 * whatever thread that comes (pausedEstimate.ts).
 *
 *   first    3 ms     transfers and ERC-20 transfers take 0.1 to 0.3: nearly all calls end here
 *   second   50 ms    several thousand slots written; code that nobody has run yet
 *   (none)   what is left of the time of an estimate, on threads of their own
 *
 * 64 endless calls that come at once hold up a short one for 64 first slices. With 20 ms instead of 3 that would be 1.3 s.
 */
import type {EstimateSlice} from "./estimateJob.ts";

export interface Slice {
  /** Processor time of the thread. The kernel reports it in steps of 4 ms (its tick), so a first slice ends after 3 to 6. */
  readonly ms: number;
  /**
   * Wall-clock time, for reads that wait for a disk. Much more than `ms`, because otherwise calls would lose their place just
   * because other processes have the processor. Every third ERC-20 transfer did.
   */
  readonly clockMs: number;
}

export const SLICES: Readonly<Record<EstimateSlice, Slice>> = {
  first: {ms: 3, clockMs: 50},
  second: {ms: 50, clockMs: 200},
};

/** A call without a slice may take this many times its limit in wall-clock time, however little processor time it gets. */
export const MAX_STRETCH = 4;

/** After this time a job with a slice begins no more calls. So its first answers wait no longer than this and one slice. */
export const JOB_MS = 2;
