/** The report of a load: figures only. `--json` prints it, textReport.ts and htmlReport.ts show it. */

import type {LoadLimits, LoadOptions} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/blockChoice.ts";
import {
  correctForOmission,
  type Histogram,
  type LatencyFigures,
  type LatencyReport,
  readFigures,
  reportLatency,
} from "../traffic/latency.ts";
import {AFTER_THE_END} from "../traffic/secondRow.ts";
import type {Tally, Trouble} from "../traffic/tally.ts";
import type {TimelineRow} from "../traffic/timeline.ts";
import {listFailures} from "../verification/judgement.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verification.ts";
import type {Machine} from "./machine.ts";

export interface LoadReport {
  /** Why the load has not passed; none where it has. */
  readonly failures: readonly string[];
  readonly version: string;
  /** What started the load. */
  readonly command: string;
  /** Of the generator. The commit is that of the generator's program; the server says its own in server.client. */
  readonly machine: Omit<Machine, "date">;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly url: string;
  readonly server: Target;
  readonly settings: ReportedSettings;
  /** closed: latency is service time, from a request's first byte written. open: from when it was due. */
  readonly loop: "closed" | "open";
  /** Of the measured time; shorter than asked for where a signal ended it. */
  readonly seconds: number;
  /** Was it ended early? */
  readonly stopped: boolean;
  /** What arrived in the measured time, per second. */
  readonly perSecond: {
    readonly requests: number;
    readonly calls: number;
    /** A proof is that of one account or of one slot. */
    readonly proofs: number;
    /** Of the answers' bodies. */
    readonly bytes: number;
  };
  /** Requests that were due in the measured time: requests = answered + failed. */
  readonly requests: {
    readonly due: number;
    /** HTTP 200. */
    readonly answered: number;
    readonly failed: number;
    /** Ended after the measured time. */
    readonly late: number;
  };
  /** Their calls: calls = results + errors + malformed + lost with a request that failed. */
  readonly calls: {
    readonly due: number;
    readonly results: number;
    readonly errors: number;
    readonly malformed: number;
    readonly lost: number;
    readonly proofs: number;
    readonly estimates: number;
  };
  /** Of requests with a result, and of timeouts up to when they were given up. null where there are none. */
  readonly latency: LatencyReport | null;
  /** Open loop: from a request's first byte written, of those with a result. null in a closed loop. */
  readonly service: LatencyReport | null;
  /** Closed loop: what clients at a steady pace would have seen. null in an open loop. */
  readonly corrected: (LatencyReport & {readonly intervalMs: number}) | null;
  readonly errors: ReportedErrors;
  readonly verification: Verification;
  readonly generator: {
    /** Of each thread's event loop in the measured time, 0 .. 1. */
    readonly utilization: readonly number[];
    /** CPU time of this process per second of measured time, all threads. */
    readonly cpuCores: number;
    /** Open loop: how late requests left although a connection was free. null in a closed loop. */
    readonly sendLag: LatencyFigures | null;
    /** Open loop: share of requests that had to wait for a free connection. */
    readonly waitedShare: number;
    /** Was it the generator that could not do more? */
    readonly wasLimit: boolean;
  };
  /** What the reader of the figures should know. */
  readonly notes: readonly string[];
  /** One per second of the measured time, by when answers arrived. */
  readonly timeline: readonly TimelineRow[];
}

export interface ReportedSettings {
  readonly style: string;
  readonly connections: number;
  readonly threads: number;
  readonly batch: number;
  readonly rate: number | null;
  readonly durationSeconds: number;
  readonly warmUpSeconds: number;
  readonly absent: number;
  readonly slots: number;
  /** null = the tag "latest". */
  readonly blocks: BlockSpan | null;
  readonly estimates: number;
  /** Where the accounts come from, and how many. */
  readonly keys: string;
  readonly seed: number;
  readonly timeoutMs: number;
  readonly verify: number;
  readonly limits: LoadLimits;
}

export interface ReportedErrors {
  /** Calls, by JSON-RPC code. */
  readonly rpc: readonly ReportedError[];
  /** Requests, by HTTP status. */
  readonly http: readonly ReportedError[];
  /** Requests, by the code of the socket's error. */
  readonly socket: readonly ReportedError[];
  /** Requests given up. */
  readonly timeouts: number;
  /** Timeouts of requests for which no connection became free. */
  readonly neverSent: number;
  /** Calls that HTTP 200 was answered to, without a result or an error. */
  readonly malformed: number;
  readonly malformedReason: string;
}

export interface ReportedError {
  readonly code: string;
  readonly count: number;
  /** The first one's. */
  readonly message: string;
}

export interface Measurement {
  readonly options: LoadOptions;
  readonly machine: Machine;
  readonly startedAt: Date;
  readonly server: Target;
  readonly blocks: BlockSpan | null;
  readonly keys: string;
  readonly seconds: number;
  readonly tally: Tally;
  readonly latency: Histogram;
  readonly sendLag: Histogram;
  readonly service: Histogram;
  readonly timeline: readonly TimelineRow[];
  readonly utilization: readonly number[];
  readonly cpuMs: number;
  readonly verification: Verification;
}

/** A thread this busy answers late whatever the server does. */
const BUSY = 0.9;
/** Timers tick in milliseconds; later than this is not the timers. */
const LATE_MS = 10;
const MANY = 0.01;

export function createReport(measurement: Measurement): LoadReport {
  const {options, tally, seconds, latency, timeline} = measurement;
  const {batch, slots, rate, connections} = options;
  const measured = timeline.filter(({second}) => second >= 0 && second !== AFTER_THE_END);
  const sum = (field: "answered" | "results" | "proofs" | "bytes" | "failed") =>
    measured.reduce((total, row) => total + row[field], 0);
  const perSecond = (total: number) => (seconds === 0 ? 0 : Math.round((100 * total) / seconds) / 100);
  const late = timeline.filter(({second}) => second === AFTER_THE_END);
  const failed = tally.requests - tally.answered;
  const errors = Object.values(tally.rpc).reduce((total, {count}) => total + count, 0);
  const figures = reportLatency(latency);
  const intervalMs = figures === null ? 0 : (seconds * 1000 * connections) / figures.count;
  const corrected =
    rate !== null || figures === null ? null : reportLatency(correctForOmission(latency, intervalMs));
  const sendLag = rate === null ? null : readFigures(measurement.sendLag);
  const {date: _date, ...machine} = measurement.machine;
  const report = {
    version: options.version,
    command: options.command,
    machine,
    startedAt: measurement.startedAt.toISOString(),
    url: options.url.href,
    server: measurement.server,
    settings: reportSettings(measurement),
    loop: rate === null ? ("closed" as const) : ("open" as const),
    seconds: Math.round(seconds * 1000) / 1000,
    stopped: seconds < options.durationSeconds,
    perSecond: {
      requests: perSecond(sum("answered")),
      calls: perSecond(sum("results")),
      proofs: perSecond(sum("proofs")),
      bytes: perSecond(sum("bytes")),
    },
    requests: {
      due: tally.requests,
      answered: tally.answered,
      failed,
      late: late.reduce((total, row) => total + row.answered + row.failed, 0),
    },
    calls: {
      due: tally.requests * batch,
      results: tally.results,
      errors,
      malformed: tally.malformed,
      lost: failed * batch,
      proofs: (tally.results - tally.estimateResults) * (1 + slots),
      estimates: tally.estimateResults,
    },
    latency: figures,
    service: rate === null ? null : reportLatency(measurement.service),
    corrected: corrected === null ? null : {...corrected, intervalMs: Math.round(intervalMs * 1000) / 1000},
    errors: reportErrors(tally),
    verification: measurement.verification,
    generator: {
      utilization: measurement.utilization.map(share => Math.round(share * 1000) / 1000),
      cpuCores: seconds === 0 ? 0 : Math.round(measurement.cpuMs / seconds / 10) / 100,
      sendLag,
      waitedShare: tally.requests === 0 ? 0 : Math.round((1000 * tally.waited) / tally.requests) / 1000,
      wasLimit: measurement.utilization.some(share => share > BUSY) || (sendLag?.p50Ms ?? 0) > LATE_MS,
    },
    timeline: measured,
  };
  return {failures: listFailures(report), ...report, notes: writeNotes(report)};
}

function reportSettings({options, blocks, keys}: Measurement): ReportedSettings {
  const {url: _url, version: _v, command: _c, keys: _keys, estimateParams: _p, ...settings} = options;
  return {...settings, blocks, keys};
}

function reportErrors(tally: Tally): ReportedErrors {
  const list = (troubles: Readonly<Record<string, Trouble>>) =>
    Object.entries(troubles)
      .map(([code, {count, message}]) => ({code, count, message}))
      .sort((a, b) => b.count - a.count);
  const {timeouts, neverSent, malformed, malformedReason} = tally;
  return {
    rpc: list(tally.rpc),
    http: list(tally.http),
    socket: list(tally.socket),
    timeouts,
    neverSent,
    malformed,
    malformedReason,
  };
}

function writeNotes(report: Omit<LoadReport, "failures" | "notes">): string[] {
  const {generator, loop, requests, settings, verification, url, stopped, seconds} = report;
  const notes: string[] = [];
  const busiest = Math.max(0, ...generator.utilization);
  if (busiest > BUSY)
    notes.push(
      `THE GENERATOR WAS THE LIMIT: a thread of it was busy ${Math.round(100 * busiest)} % of the time; the server may do more. ` +
        "Use more --threads, a larger --batch or another machine.",
    );
  const {sendLag} = generator;
  if (sendLag !== null && sendLag.p50Ms > LATE_MS)
    notes.push(
      `THE GENERATOR WAS THE LIMIT: half of the requests left ${sendLag.p50Ms} ms late or more although a connection was free. ` +
        "Use more --threads, a lower --rate or another machine.",
    );
  else if (sendLag !== null && sendLag.p99Ms > LATE_MS)
    notes.push(
      `The generator was late: 1 % of the requests left ${sendLag.p99Ms} ms late or more although a connection was free. ` +
        "The highest latencies hold that too.",
    );
  if (generator.waitedShare > MANY)
    notes.push(
      `${(100 * generator.waitedShare).toFixed(1)} % of the requests had to wait for a free connection: the server is slower than ` +
        `the rate, or ${settings.connections} connections are too few. The wait is part of the latency.`,
    );
  if (verification.note !== null) notes.push(verification.note);
  if (loop === "closed" && requests.due > 0)
    notes.push(
      "Closed loop: latency is service time. A server that stalls is not asked meanwhile, so the stall counts once per " +
        "connection; measure latency with --rate.",
    );
  if (/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname))
    notes.push("The generator ran on the server's machine and took its share of the cores.");
  if (stopped) notes.push(`Ended early, after ${seconds} of ${settings.durationSeconds} s.`);
  return notes;
}
