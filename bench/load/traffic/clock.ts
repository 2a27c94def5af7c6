/**
 * One monotonic clock for all threads: performance.now() counts from each thread's own start.
 */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds of the machine's monotonic clock, the same in every thread. */
export function nowMs(): number {
  return performance.now() + OFFSET_MS;
}
