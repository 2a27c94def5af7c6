/**
 * One thread's share of the load, from the first request to the last answer.
 *
 *   closed loop   every connection sends its next request when it has the answer to the last one
 *   open loop     a request is due at its time (schedule.ts) whatever became of those before it, and takes the
 *                 connection that has been idle longest; with none idle it waits, and its latency counts that too
 *
 *   start        measuring begins      ends                     last answer
 *     | warm-up          | measured      | those under way            |
 *
 * A request counts where it was due in the measured time. Nothing is due after it; what is under way is followed to
 * its end, at most for the time-out.
 */
import {performance} from "node:perf_hooks";
import {Random} from "../requests/random.ts";
import {RequestMaker, type RequestPlan} from "../requests/requestMaker.ts";
import {readAnswer, shorten, type Verdict} from "./answer.ts";
import {nowMs} from "./clock.ts";
import {Connection, type Endpoint} from "./connection.ts";
import {createHistogram, encodeHistogram, type Histogram, recordMs} from "./latency.ts";
import {type Sample, Sampler} from "./sampler.ts";
import {Schedule} from "./schedule.ts";
import {AFTER_THE_END, createRow, type PostedRow, type SecondRow} from "./secondRow.ts";
import {countTrouble, countVerdict, createTally, type Tally} from "./tally.ts";

export interface DriverPlan {
  readonly endpoint: Endpoint;
  readonly requests: RequestPlan;
  readonly seed: number;
  /** Of all threads. */
  readonly rate: number | null;
  readonly threads: number;
  /** Of this thread. */
  readonly thread: number;
  readonly connections: number;
  /** Answers that this thread keeps to be verified. */
  readonly samples: number;
}

/** On the clock of clock.ts. */
export interface Times {
  readonly startMs: number;
  readonly measureMs: number;
  readonly endMs: number;
}

/** A thread's last word. */
export interface DriverEnd {
  readonly tally: Tally;
  readonly samples: readonly Sample[];
  /** Open loop: how late the generator itself was, where a connection was idle. Encoded. */
  readonly sendLag: string;
  /** From a request's first byte written to the answer's last one read. Encoded. */
  readonly service: string;
  /** Share of the measured time that the thread's event loop was busy, 0 .. 1. */
  readonly utilization: number;
}

export interface DriverListener {
  onRow(row: PostedRow): void;
  onEnd(end: DriverEnd): void;
}

/** A connection that failed waits so long, or a server that is down would be hit in a tight loop. */
const RETRY_MS = 100;
const FLUSH_EVERY_MS = 200;

export class Driver {
  readonly #plan: DriverPlan;
  readonly #listener: DriverListener;
  readonly #maker: RequestMaker;
  readonly #sampler: Sampler;
  readonly #connections: Connection[];
  /** Open loop: idle connections in the order in which they became so. */
  readonly #idle: Connection[] = [];
  readonly #tally = createTally();
  readonly #sendLag = createHistogram();
  readonly #service = createHistogram();
  readonly #latency: Histogram = createHistogram();
  #row: SecondRow = createRow(Number.NEGATIVE_INFINITY);
  #times: Times = {startMs: 0, measureMs: 0, endMs: 0};
  #schedule: Schedule | null = null;
  #busy = 0;
  #retrying = 0;
  #hasEnded = false;
  #wakeTimer: NodeJS.Timeout | undefined;
  readonly #timers: NodeJS.Timeout[] = [];
  #loadAtStart = performance.eventLoopUtilization();
  #utilization: number | null = null;

  constructor(plan: DriverPlan, listener: DriverListener) {
    this.#plan = plan;
    this.#listener = listener;
    // One stream for what is asked, so that a seed asks for the same; another for what is looked at.
    this.#maker = new RequestMaker(plan.requests, new Random(plan.seed, plan.thread));
    this.#sampler = new Sampler(plan.samples, new Random(plan.seed, plan.threads + plan.thread));
    const owner = {
      onAnswer: (connection: Connection) => this.#onAnswer(connection),
      onSocketError: (connection: Connection, code: string, message: string) =>
        this.#onSocketError(connection, code, message),
    };
    this.#connections = Array.from({length: plan.connections}, () => new Connection(plan.endpoint, owner));
  }

  start(times: Times): void {
    this.#times = times;
    const untilStartMs = Math.max(0, times.startMs - nowMs());
    const {timeoutMs} = this.#plan.endpoint;
    this.#timers.push(
      setTimeout(() => this.#begin(), untilStartMs),
      setTimeout(
        () => {
          this.#loadAtStart = performance.eventLoopUtilization();
        },
        untilStartMs + (times.measureMs - times.startMs),
      ),
      setTimeout(() => this.#onMeasured(), untilStartMs + (times.endMs - times.startMs)),
      setInterval(() => this.#giveUpLate(), Math.min(100, Math.max(5, timeoutMs / 20))),
      setInterval(() => this.#flushRow(), FLUSH_EVERY_MS),
    );
  }

  /** Nothing is due from `endMs` on; what was sent before this thread heard of it counts. */
  stop(endMs: number): void {
    const now = nowMs();
    const end = Math.max(endMs, now);
    if (end >= this.#times.endMs) return;
    this.#times = {...this.#times, endMs: end, measureMs: Math.min(this.#times.measureMs, end)};
    this.#timers.push(setTimeout(() => this.#onMeasured(), end - now));
  }

  #begin(): void {
    const {rate, threads, thread} = this.#plan;
    // A timer may be a part of a millisecond early, and what is sent before the start does not count.
    if (nowMs() < this.#times.startMs) {
      setImmediate(() => this.#begin());
      return;
    }
    if (rate === null) {
      for (const connection of this.#connections) this.#sendNext(connection);
      return;
    }
    this.#schedule = new Schedule(this.#times.startMs, rate, threads, thread);
    this.#idle.push(...this.#connections);
    this.#sendDue();
  }

  /** At the end of the measured time: the first to see it counts. @returns the share that the event loop was busy */
  #onMeasured(): number {
    this.#utilization ??= performance.eventLoopUtilization(this.#loadAtStart).utilization;
    return this.#utilization;
  }

  /** Closed loop: the connection's next request. */
  #sendNext(connection: Connection): void {
    const now = nowMs();
    if (now < this.#times.endMs) {
      this.#busy++;
      connection.send(this.#maker.next(), now);
    } else {
      this.#endIfDone();
    }
  }

  /** Open loop: all that is due and finds a connection. */
  #sendDue(): void {
    const schedule = this.#schedule as Schedule;
    const {timeoutMs} = this.#plan.endpoint;
    const now = nowMs();
    clearTimeout(this.#wakeTimer);
    for (; schedule.dueMs <= now && schedule.dueMs < this.#times.endMs; schedule.advance()) {
      const {dueMs} = schedule;
      if (now - dueMs >= timeoutMs) {
        this.#countTimeout(dueMs, now, true);
        continue;
      }
      const connection = this.#takeIdle();
      if (connection === undefined) return; // the next one that is free goes on here
      const couldBeSentMs = Math.max(dueMs, connection.idleSinceMs);
      if (this.#isMeasured(dueMs)) {
        recordMs(this.#sendLag, now - couldBeSentMs);
        if (couldBeSentMs > dueMs) this.#tally.waited++;
      }
      this.#busy++;
      connection.send(this.#maker.next(), dueMs);
    }
    if (schedule.dueMs < this.#times.endMs) {
      this.#wakeTimer = setTimeout(() => this.#sendDue(), Math.max(1, schedule.dueMs - nowMs()));
    } else {
      this.#endIfDone();
    }
  }

  #takeIdle(): Connection | undefined {
    return this.#idle.shift();
  }

  #onAnswer(connection: Connection): void {
    this.#busy--;
    const now = nowMs();
    const isMeasured = this.#isMeasured(connection.dueMs);
    const {status, body, chunks, bytes} = connection;
    const row = this.#rowAt(now);
    row.bytes += bytes;
    if (status === 200) {
      const {batch} = this.#plan.requests;
      const verdict = readAnswer(chunks, body, batch);
      row.answered++;
      row.results += verdict.results;
      row.callErrors += batch - verdict.results;
      row.proofs += (verdict.results - verdict.estimateResults) * (1 + this.#plan.requests.slots);
      if (isMeasured) this.#countAnswer(connection, verdict, now);
    } else {
      row.failed++;
      if (isMeasured) {
        this.#tally.requests++;
        const text = shorten(Buffer.concat(chunks).toString("utf8"));
        countTrouble(this.#tally.http, String(status), 1, text);
      }
    }
    this.#goOn(connection);
  }

  #countAnswer(connection: Connection, verdict: Verdict, now: number): void {
    this.#tally.requests++;
    countVerdict(this.#tally, verdict);
    // An answer of errors only is no service: it would make the latency look better than it is.
    if (verdict.results === 0) return;
    recordMs(this.#latency, now - (this.#schedule === null ? connection.writtenMs : connection.dueMs));
    recordMs(this.#service, now - connection.writtenMs);
    this.#sampler.offer(connection.body.text, connection.chunks);
  }

  #onSocketError(connection: Connection, code: string, message: string): void {
    this.#busy--;
    this.#rowAt(nowMs()).failed++;
    if (this.#isMeasured(connection.dueMs)) {
      this.#tally.requests++;
      countTrouble(this.#tally.socket, code, 1, message);
    }
    if (this.#schedule !== null) {
      this.#goOn(connection);
      return;
    }
    this.#retrying++;
    setTimeout(() => {
      this.#retrying--;
      this.#goOn(connection);
    }, RETRY_MS);
  }

  /** The connection has no request now. */
  #goOn(connection: Connection): void {
    if (this.#schedule === null) {
      this.#sendNext(connection);
    } else {
      this.#idle.push(connection);
      this.#sendDue();
    }
  }

  #giveUpLate(): void {
    const now = nowMs();
    const {timeoutMs} = this.#plan.endpoint;
    for (const connection of this.#connections) {
      if (!connection.isBusy || now - connection.dueMs < timeoutMs) continue;
      this.#busy--;
      connection.cut();
      this.#countTimeout(connection.dueMs, now, false);
      this.#goOn(connection);
    }
    if (this.#schedule !== null) this.#sendDue();
    // Where the last answer came just before the end, nothing else asks.
    this.#endIfDone();
  }

  /** Its latency is at least what passed until now, which is what is recorded. */
  #countTimeout(dueMs: number, now: number, wasNeverSent: boolean): void {
    this.#rowAt(now).failed++;
    if (!this.#isMeasured(dueMs)) return;
    this.#tally.requests++;
    this.#tally.timeouts++;
    if (wasNeverSent) {
      this.#tally.neverSent++;
      this.#tally.waited++;
    }
    recordMs(this.#latency, now - dueMs);
  }

  #isMeasured(dueMs: number): boolean {
    return dueMs >= this.#times.measureMs && dueMs < this.#times.endMs;
  }

  #rowAt(now: number): SecondRow {
    const {measureMs, endMs} = this.#times;
    const second = now >= endMs ? AFTER_THE_END : Math.floor((now - measureMs) / 1000);
    if (second > this.#row.second) {
      this.#postRow();
      this.#row = createRow(second);
    }
    return this.#row;
  }

  /** A second without answers ends too. */
  #flushRow(): void {
    if (nowMs() >= this.#times.startMs) this.#rowAt(nowMs());
  }

  #postRow(): void {
    if (this.#row.second === Number.NEGATIVE_INFINITY) return;
    const isEmpty = this.#latency.totalCount === 0;
    this.#listener.onRow({...this.#row, latency: isEmpty ? null : encodeHistogram(this.#latency)});
    this.#latency.reset();
  }

  #endIfDone(): void {
    const isDrained = this.#schedule === null || this.#schedule.dueMs >= this.#times.endMs;
    if (this.#hasEnded || this.#busy > 0 || this.#retrying > 0 || !isDrained || nowMs() < this.#times.endMs)
      return;
    this.#hasEnded = true;
    for (const timer of this.#timers) clearTimeout(timer);
    clearTimeout(this.#wakeTimer);
    for (const connection of this.#connections) connection.close();
    this.#postRow();
    this.#listener.onEnd({
      tally: this.#tally,
      samples: this.#sampler.samples,
      sendLag: encodeHistogram(this.#sendLag),
      service: encodeHistogram(this.#service),
      utilization: this.#onMeasured(),
    });
  }
}
