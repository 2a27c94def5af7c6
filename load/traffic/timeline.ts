/**
 * Merges the seconds of all threads: counts and latency per second, and the total latency.
 *
 * A histogram takes 190 KB, so a second is merged as soon as all threads have posted it.
 */
import {createHistogram, decodeHistogram, type Histogram, percentileMs} from "./latency.ts";
import {addCounts} from "./tally.ts";

/** The second of everything that arrived after the measured time. */
export const AFTER_THE_END: number = Number.POSITIVE_INFINITY;

/** Answers that arrived in one second, whenever their requests were due. */
export interface Arrived {
  /** Requests answered with HTTP 200. */
  answered: number;
  /** Requests that failed: HTTP status, socket, timeout. */
  failed: number;
  results: number;
  /** Calls with an error or malformed. */
  callErrors: number;
  proofs: number;
  bytes: number;
}

export function createArrived(): Arrived {
  return {answered: 0, failed: 0, results: 0, callErrors: 0, proofs: 0, bytes: 0};
}

/** Sent to the main thread when a second ends. */
export interface PostedRow {
  /** Seconds since the measured time began; below 0 in the warm-up; or AFTER_THE_END. */
  readonly second: number;
  readonly arrived: Readonly<Arrived>;
  /** Encoded histogram of the requests that were due in the measured time; undefined if none ended in this second. */
  readonly latency: string | undefined;
}

export interface TimelineRow extends Readonly<Arrived> {
  readonly second: number;
  /** Of requests that were due in the measured time; undefined if none ended in this second. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

export class Timeline {
  /** All requests that were due in the measured time and got a result or timed out. */
  readonly total: Histogram = createHistogram();
  private readonly scratch = createHistogram();
  private readonly open = new Map<number, {readonly arrived: Arrived; readonly latencies: string[]}>();
  private readonly closed: TimelineRow[] = [];
  /** The last second of each thread. A thread posts its seconds in order. */
  private readonly newest: number[];

  constructor(threads: number) {
    this.newest = Array.from({length: threads}, () => Number.NEGATIVE_INFINITY);
  }

  /** @returns the seconds that are now complete, in order */
  add(thread: number, {second, arrived, latency}: PostedRow): TimelineRow[] {
    const open = this.open.get(second) ?? {arrived: createArrived(), latencies: []};
    this.open.set(second, open);
    addCounts(open.arrived, arrived);
    if (latency !== undefined) open.latencies.push(latency);
    this.newest[thread] = Math.max(this.newest[thread] as number, second);
    return this.close(Math.min(...this.newest));
  }

  /** @returns all seconds in order, including the warm-up and those after the measured time */
  end(): readonly TimelineRow[] {
    this.close(AFTER_THE_END);
    return this.closed;
  }

  private close(last: number): TimelineRow[] {
    const complete = [...this.open].filter(([second]) => second <= last).sort(([a], [b]) => a - b);
    const rows = complete.map(([second, {arrived, latencies}]): TimelineRow => {
      this.open.delete(second);
      this.scratch.reset();
      for (const latency of latencies.map(decodeHistogram)) {
        this.scratch.add(latency);
        this.total.add(latency);
      }
      const at = (percentile: number) =>
        this.scratch.totalCount === 0 ? undefined : percentileMs(this.scratch, percentile);
      return {second, ...arrived, p50Ms: at(50), p99Ms: at(99), maxMs: at(100)};
    });
    this.closed.push(...rows);
    return rows;
  }
}
