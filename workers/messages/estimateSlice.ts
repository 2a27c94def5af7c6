/**
 * How long a call may run before it must wait behind the short ones:
 *
 *   first    3 ms                on the short threads: transfers and ERC-20 transfers take 0.1 to 0.3, nearly all calls end here
 *   then     2 s (timeMs)        on the long threads, where it begins again and takes turns with the other clients' long calls
 *
 * 64 endless calls that come at once hold up a short one for 64 first slices. With 20 ms instead of 3 that would be 1.3
 * s.
 */

export interface Slice {
  /** Processor time. The kernel reports it in steps of 4 ms (its tick), so a first slice ends after 3 to 6. */
  readonly ms: number;
  /**
   * Wall-clock time, for reads that wait for a disk. What the thread waits for the processor does not count where the
   * system reports it, and this is much more than `ms`: otherwise calls would lose their place just because other
   * processes run.
   */
  readonly clockMs: number;
}

export const FIRST_SLICE: Slice = {ms: 3, clockMs: 50};

/** A call without a slice may take this many times its limit in wall-clock time. */
export const MAX_STRETCH = 4;

/** Then a job with a slice begins no more calls, so its first answers wait no longer than this and one slice. */
export const JOB_MS = 2;
