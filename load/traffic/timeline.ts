/**
 * Adds up the seconds of all threads: counts and latency per second, and the latency of the whole load.
 *
 * A histogram takes 190 KB, so a second is added up as soon as every thread has posted it.
 */
import {createHistogram, decodeHistogram, type Histogram, percentileMs} from "./latency.ts";

/** The row of everything that arrived after the measured time. */
export const AFTER_THE_END: number = Number.POSITIVE_INFINITY;

/** What arrived at one thread in one second, whenever it was due. It is sent to the main thread when the second ends. */
export interface SecondRow {
  /** Seconds since the measured time began; below 0 in the warm-up; or AFTER_THE_END. */
  readonly second: number;
  /** Requests answered with HTTP 200. */
  answered: number;
  /** Requests that failed: HTTP status, socket, timeout. */
  failed: number;
  /** Calls with a result. */
  results: number;
  /** Calls with an error or malformed. */
  callErrors: number;
  proofs: number;
  /** Bytes of bodies. */
  bytes: number;
}

/** `latency`: encoded histogram of the requests that were due in the measured time. */
export type PostedRow = Readonly<SecondRow> & {readonly latency: string | undefined};

export function createRow(second: number): SecondRow {
  return {second, answered: 0, failed: 0, results: 0, callErrors: 0, proofs: 0, bytes: 0};
}

function addRow(into: SecondRow, from: Readonly<SecondRow>): void {
  into.answered += from.answered;
  into.failed += from.failed;
  into.results += from.results;
  into.callErrors += from.callErrors;
  into.proofs += from.proofs;
  into.bytes += from.bytes;
}

export interface TimelineRow extends Readonly<SecondRow> {
  /** Of requests that were due in the measured time; undefined if none ended in this second. */
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

interface OpenSecond {
  readonly row: SecondRow;
  readonly latencies: string[];
}

export class Timeline {
  /** All requests that were due in the measured time and got a result or timed out. */
  readonly total: Histogram = createHistogram();
  private readonly scratch = createHistogram();
  private readonly open = new Map<number, OpenSecond>();
  private readonly closed = new Map<number, TimelineRow>();
  /** The newest second that each thread has posted. A thread posts its seconds in order. */
  private readonly newest: number[];

  constructor(threads: number) {
    this.newest = Array.from({length: threads}, () => Number.NEGATIVE_INFINITY);
  }

  /** @returns the seconds that this row completes, in order */
  add(thread: number, posted: PostedRow): TimelineRow[] {
    const {latency, ...row} = posted;
    const open = this.open.get(row.second) ?? {row: createRow(row.second), latencies: []};
    this.open.set(row.second, open);
    addRow(open.row, row);
    if (latency !== undefined) open.latencies.push(latency);
    this.newest[thread] = Math.max(this.newest[thread] as number, row.second);
    const complete = Math.min(...this.newest);
    return [...this.open.keys()]
      .filter(second => second <= complete)
      .sort((a, b) => a - b)
      .map(second => this.close(second));
  }

  /** @returns all seconds in order, including the warm-up and those after the measured time */
  end(): TimelineRow[] {
    for (const second of this.open.keys()) this.close(second);
    return [...this.closed.values()].sort((a, b) => a.second - b.second);
  }

  private close(second: number): TimelineRow {
    const {row, latencies} = this.open.get(second) as OpenSecond;
    this.open.delete(second);
    this.scratch.reset();
    for (const text of latencies) {
      const latency = decodeHistogram(text);
      this.scratch.add(latency);
      this.total.add(latency);
    }
    const isEmpty = this.scratch.totalCount === 0;
    const closed = {
      ...row,
      p50Ms: isEmpty ? undefined : percentileMs(this.scratch, 50),
      p99Ms: isEmpty ? undefined : percentileMs(this.scratch, 99),
      maxMs: isEmpty ? undefined : percentileMs(this.scratch, 100),
    };
    this.closed.set(second, closed);
    return closed;
  }
}
