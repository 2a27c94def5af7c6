/**
 * The counts of one thread:
 *
 *   tally, latency, service, samples   for requests that were due in the measured time, whenever they ended
 *   rows                               for what arrived in each second, whenever it was due
 */
import type {Random} from "../requests/random.ts";
import type {RequestPlan} from "../requests/requestMaker.ts";
import {createShown, readAnswer, type Verdict} from "./answer.ts";
import type {Connection, Endpoint} from "./connection.ts";
import {createHistogram, encodeHistogram, type Histogram, recordMs} from "./latency.ts";
import {nowMs, type Times} from "./schedule.ts";
import {countTrouble, countVerdict, createTally} from "./tally.ts";
import type {ThreadShares} from "./threadTime.ts";
import {AFTER_THE_END, type Arrived, createArrived, type PostedRow} from "./timeline.ts";

export type DriverEnd = Readonly<ReturnType<Recorder["end"]>>;

export class Recorder {
  /** Set before the first request. */
  times: Times = {startMs: 0, measureMs: 0, endMs: 0};
  private readonly shown: (text: unknown) => string;
  private readonly tally = createTally();
  private readonly sendLag = createHistogram();
  private readonly service = createHistogram();
  private readonly latency: Histogram = createHistogram();
  private second = Number.NEGATIVE_INFINITY;
  private arrived = createArrived();

  constructor(
    endpoint: Endpoint,
    private readonly requests: RequestPlan,
    private readonly isOpenLoop: boolean,
    private readonly sampler: Sampler,
    private readonly onRow: (row: PostedRow) => void,
  ) {
    this.shown = createShown(endpoint);
  }

  /** Open loop only. @param couldBeSentMs - when the request was due and a connection was idle */
  countSent(dueMs: number, couldBeSentMs: number, now: number): void {
    if (!this.isMeasured(dueMs)) return;
    recordMs(this.sendLag, now - couldBeSentMs);
    if (couldBeSentMs > dueMs) this.tally.counts.waited++;
  }

  countAnswer(connection: Connection, now: number): void {
    const isMeasured = this.isMeasured(connection.dueMs);
    const {status, body, answer} = connection;
    const arrived = this.arrivedAt(now);
    arrived.bytes += answer.length;
    if (status !== 200) {
      arrived.failed++;
      if (isMeasured) this.countFailed("http", String(status), this.shown(answer.toString("utf8")));
      return;
    }
    const {batch, slots} = this.requests;
    const verdict = readAnswer(answer, body, batch, this.shown);
    arrived.answered++;
    arrived.results += verdict.results;
    arrived.callErrors += batch - verdict.results;
    arrived.proofs += (verdict.results - verdict.estimateResults) * (1 + slots);
    if (isMeasured) this.countVerdict(connection, answer, verdict, now);
  }

  countSocketError(dueMs: number, code: string, message: string): void {
    this.arrivedAt(nowMs()).failed++;
    if (this.isMeasured(dueMs)) this.countFailed("socket", code, message);
  }

  /** Counts a time-out. The time until now, a lower bound of the latency, is recorded. */
  countTimeout(dueMs: number, now: number, wasNeverSent: boolean): void {
    this.arrivedAt(now).failed++;
    if (!this.isMeasured(dueMs)) return;
    const {counts} = this.tally;
    counts.requests++;
    counts.timeouts++;
    if (wasNeverSent) {
      counts.neverSent++;
      counts.waited++;
    }
    recordMs(this.latency, now - dueMs);
  }

  /** Posts the row of a past second, also if no answer arrived since. */
  flushRow(): void {
    if (nowMs() >= this.times.startMs) this.arrivedAt(nowMs());
  }

  /** Posts the last row. */
  end(shares: ThreadShares) {
    this.postRow();
    return {
      tally: this.tally,
      samples: this.sampler.samples,
      /** Open loop: delay of requests that had an idle connection, which the generator caused. An encoded histogram. */
      sendLag: encodeHistogram(this.sendLag),
      /** Time from a request's first byte written to its answer's last byte read. An encoded histogram. */
      service: encodeHistogram(this.service),
      shares,
    };
  }

  private countFailed(kind: "http" | "socket", code: string, message: string): void {
    this.tally.counts.requests++;
    countTrouble(this.tally.troubles[kind], code, 1, message);
  }

  private countVerdict(connection: Connection, answer: Buffer, verdict: Verdict, now: number): void {
    this.tally.counts.requests++;
    countVerdict(this.tally, verdict);
    // Latencies of errors are not recorded: errors are fast, and would improve the figures.
    if (verdict.results === 0) return;
    recordMs(this.latency, now - (this.isOpenLoop ? connection.dueMs : connection.writtenMs));
    recordMs(this.service, now - connection.writtenMs);
    this.sampler.offer(connection.body.text, answer);
  }

  private isMeasured(dueMs: number): boolean {
    return dueMs >= this.times.measureMs && dueMs < this.times.endMs;
  }

  private arrivedAt(now: number): Arrived {
    const {measureMs, endMs} = this.times;
    const second = now >= endMs ? AFTER_THE_END : Math.floor((now - measureMs) / 1000);
    if (second > this.second) {
      this.postRow();
      this.second = second;
      this.arrived = createArrived();
    }
    return this.arrived;
  }

  private postRow(): void {
    const {second, arrived, latency} = this;
    if (second === Number.NEGATIVE_INFINITY) return;
    this.onRow({second, arrived, latency: latency.totalCount === 0 ? undefined : encodeHistogram(latency)});
    this.latency.reset();
  }
}

/** The bodies of a request and its answer, from a uniform random sample. */
export interface Sample {
  readonly request: string;
  readonly answer: Uint8Array;
}

/** Reservoir sampling, algorithm R. */
export class Sampler {
  readonly samples: Sample[] = [];
  private seen = 0;

  constructor(
    private readonly size: number,
    private readonly random: Random,
  ) {}

  offer(request: string, answer: Uint8Array): void {
    this.seen++;
    const place = this.samples.length < this.size ? this.samples.length : this.random.below(this.seen);
    if (place >= this.size) return;
    this.samples[place] = {request, answer: new Uint8Array(answer)};
  }
}
