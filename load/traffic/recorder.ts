/**
 * The counts of one thread:
 *
 *   tally, latency, service, samples   for requests that were due in the measured time, whenever they ended
 *   rows                               for what arrived in each second, whenever it was due
 */
import type {RequestPlan} from "../requests/requestMaker.ts";
import {readAnswer, shorten, type Verdict} from "./answer.ts";
import type {Connection} from "./connection.ts";
import {createHistogram, encodeHistogram, type Histogram, recordMs} from "./latency.ts";
import type {Sample, Sampler} from "./sampler.ts";
import {nowMs, type Times} from "./schedule.ts";
import {countTrouble, countVerdict, createTally, type Tally} from "./tally.ts";
import {AFTER_THE_END, createRow, type PostedRow, type SecondRow} from "./timeline.ts";

/** The counts that a thread sends at its end. */
export interface Counts {
  readonly tally: Tally;
  readonly samples: readonly Sample[];
  /** Open loop: how late requests left although a connection was idle. That delay is the generator's. Encoded. */
  readonly sendLag: string;
  /** From a request's first byte written to its answer's last byte read. Encoded. */
  readonly service: string;
}

export class Recorder {
  /** Set before the first request. */
  times: Times = {startMs: 0, measureMs: 0, endMs: 0};
  private readonly tally = createTally();
  private readonly sendLag = createHistogram();
  private readonly service = createHistogram();
  private readonly latency: Histogram = createHistogram();
  private row: SecondRow = createRow(Number.NEGATIVE_INFINITY);

  constructor(
    private readonly requests: RequestPlan,
    private readonly isOpenLoop: boolean,
    private readonly sampler: Sampler,
    private readonly onRow: (row: PostedRow) => void,
  ) {}

  /** For an open loop. @param couldBeSentMs - when the request was due and a connection was idle */
  countSent(dueMs: number, couldBeSentMs: number, now: number): void {
    if (!this.isMeasured(dueMs)) return;
    recordMs(this.sendLag, now - couldBeSentMs);
    if (couldBeSentMs > dueMs) this.tally.waited++;
  }

  countAnswer(connection: Connection, now: number): void {
    const isMeasured = this.isMeasured(connection.dueMs);
    const {status, body, chunks} = connection;
    const answer = Buffer.concat(chunks);
    const row = this.rowAt(now);
    row.bytes += answer.length;
    if (status === 200) {
      const {batch, slots} = this.requests;
      const verdict = readAnswer(answer, body, batch);
      row.answered++;
      row.results += verdict.results;
      row.callErrors += batch - verdict.results;
      row.proofs += (verdict.results - verdict.estimateResults) * (1 + slots);
      if (isMeasured) this.countVerdict(connection, answer, verdict, now);
    } else {
      row.failed++;
      if (isMeasured) {
        this.tally.requests++;
        countTrouble(this.tally.http, String(status), 1, shorten(answer.toString("utf8")));
      }
    }
  }

  countSocketError(dueMs: number, code: string, message: string): void {
    this.rowAt(nowMs()).failed++;
    if (!this.isMeasured(dueMs)) return;
    this.tally.requests++;
    countTrouble(this.tally.socket, code, 1, message);
  }

  /** Counts a request that timed out. Its latency is at least the time until now, so this is recorded. */
  countTimeout(dueMs: number, now: number, wasNeverSent: boolean): void {
    this.rowAt(now).failed++;
    if (!this.isMeasured(dueMs)) return;
    this.tally.requests++;
    this.tally.timeouts++;
    if (wasNeverSent) {
      this.tally.neverSent++;
      this.tally.waited++;
    }
    recordMs(this.latency, now - dueMs);
  }

  /** Posts a row also for a second without answers. */
  flushRow(): void {
    if (nowMs() >= this.times.startMs) this.rowAt(nowMs());
  }

  /** Posts the last row. */
  end(): Counts {
    this.postRow();
    return {
      tally: this.tally,
      samples: this.sampler.samples,
      sendLag: encodeHistogram(this.sendLag),
      service: encodeHistogram(this.service),
    };
  }

  private countVerdict(connection: Connection, answer: Buffer, verdict: Verdict, now: number): void {
    this.tally.requests++;
    countVerdict(this.tally, verdict);
    // An answer with only errors is not recorded: errors are fast, and would make the latency look better than it is.
    if (verdict.results === 0) return;
    recordMs(this.latency, now - (this.isOpenLoop ? connection.dueMs : connection.writtenMs));
    recordMs(this.service, now - connection.writtenMs);
    this.sampler.offer(connection.body.text, answer);
  }

  private isMeasured(dueMs: number): boolean {
    return dueMs >= this.times.measureMs && dueMs < this.times.endMs;
  }

  private rowAt(now: number): SecondRow {
    const {measureMs, endMs} = this.times;
    const second = now >= endMs ? AFTER_THE_END : Math.floor((now - measureMs) / 1000);
    if (second > this.row.second) {
      this.postRow();
      this.row = createRow(second);
    }
    return this.row;
  }

  private postRow(): void {
    if (this.row.second === Number.NEGATIVE_INFINITY) return;
    const isEmpty = this.latency.totalCount === 0;
    this.onRow({...this.row, latency: isEmpty ? undefined : encodeHistogram(this.latency)});
    this.latency.reset();
  }
}
