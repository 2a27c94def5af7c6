/** What a load measured, as the figures of its report. */
import {redactUrl} from "proofd-client";
import type {LoadOptions} from "../loadOptions.ts";
import {describeKeys, type Keys} from "../requests/keys.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import {addHistograms, type LatencyFigures, readFigures, reportLatency} from "../traffic/latency.ts";
import type {DriverEnd} from "../traffic/recorder.ts";
import {addTally, createTally, type Trouble} from "../traffic/tally.ts";
import {AFTER_THE_END, type Arrived, type Timeline, type TimelineRow} from "../traffic/timeline.ts";
import type {usageBetween} from "../verification/serverUsage.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verifySamples.ts";
import type {Machine} from "./machine.ts";

/** A busier thread reads answers late, which adds to the latency. */
export const BUSY = 0.9;
/** In a closed loop, a thread without a core sends nothing: with a core, it could have sent up to a third more. */
export const TOO_STARVED = 0.25;
/** Longer delays are not due to the resolution of timers, a millisecond. */
export const LATE_MS = 10;

export interface Measurement {
  readonly options: LoadOptions;
  readonly machine: Machine;
  readonly server: Target;
  readonly startedAt: Date;
  /** Length of the measured time, shorter than the option if a signal ended it. */
  readonly seconds: number;
  readonly blocks: BlockSpan | undefined;
  readonly keys: Keys;
  readonly ends: readonly DriverEnd[];
  readonly timeline: Timeline;
  readonly verification: Verification;
  readonly cpuMs: number;
  /** From the server's /metrics for the measured time; a string says why they are not available. */
  readonly serverUsage: ReturnType<typeof usageBetween>;
}

export type Measured = ReturnType<typeof measure>;

export function measure(measurement: Measurement) {
  const {machine, server, verification, serverUsage, blocks, keys, seconds, ends} = measurement;
  const {
    url,
    headers: _sent,
    version,
    commit,
    command,
    keys: _keys,
    estimateParams: _params,
    ...settings
  } = measurement.options;
  const {batch, slots, rate} = settings;
  const tally = createTally();
  for (const end of ends) addTally(tally, end.tally);
  const {counts, troubles, malformedReason} = tally;
  const rows = measurement.timeline.end();
  const timeline = rows.filter(({second}) => second >= 0 && second !== AFTER_THE_END);
  const late = rows.filter(({second}) => second === AFTER_THE_END);
  const sum = (rows: readonly TimelineRow[], field: keyof Arrived) =>
    rows.reduce((total, row) => total + row[field], 0);
  const perSecond = (field: keyof Arrived) =>
    seconds === 0 ? 0 : round(sum(timeline, field) / seconds, 100);
  const failed = counts.requests - counts.answered;
  const isOpen = rate !== undefined;
  const utilization = ends.map(({shares}) => round(shares.busy, 1000));
  const starved = ends.map(({shares}) => round(shares.starved, 1000));
  const sendLag = isOpen ? readFigures(addHistograms(ends.map(end => end.sendLag))) : undefined;
  return {
    version,
    command,
    /** The commit of the generator. `server.client` names the server's. */
    commit,
    machine,
    startedAt: measurement.startedAt.toISOString(),
    /** Scheme, host and port. The rest may contain keys. */
    url: redactUrl(url),
    server,
    /** The options, without keys and long values. `blocks` is undefined for the tag "latest". */
    settings: {...settings, blocks, keys: describeKeys(keys)},
    /** Latency counts from the first byte written (closed: service time) or from when the request was due (open). */
    loop: isOpen ? ("open" as const) : ("closed" as const),
    seconds: round(seconds, 1000),
    /** Whether a signal ended the load early. */
    stopped: seconds < settings.durationSeconds,
    /** What arrived in the measured time, per second. */
    perSecond: {
      requests: perSecond("answered"),
      calls: perSecond("results"),
      /** A proof is that of one account or one slot. */
      proofs: perSecond("proofs"),
      /** Bytes of answer bodies. */
      bytes: perSecond("bytes"),
    },
    /** Requests that were due in the measured time: requests = answered + failed. */
    requests: {
      due: counts.requests,
      /** HTTP 200. */
      answered: counts.answered,
      failed,
      /** Requests that ended after the measured time. */
      late: sum(late, "answered") + sum(late, "failed"),
    },
    /** The calls of these requests: calls = results + errors + malformed + lost with a request that failed. */
    calls: {
      due: counts.requests * batch,
      results: counts.results,
      errors: Object.values(troubles.rpc).reduce((total, {count}) => total + count, 0),
      malformed: counts.malformed,
      lost: failed * batch,
      proofs: (counts.results - counts.estimateResults) * (1 + slots),
      estimates: counts.estimateResults,
    },
    /** Latency of requests with a result, and time-outs; undefined if there are none. */
    latency: reportLatency(measurement.timeline.total),
    /** Open loop: time from a request's first byte written, of requests with a result. undefined in a closed loop. */
    service: isOpen ? reportLatency(addHistograms(ends.map(end => end.service))) : undefined,
    errors: {
      /** Calls, by JSON-RPC code. */
      rpc: listErrors(troubles.rpc),
      /** Requests, by HTTP status. */
      http: listErrors(troubles.http),
      /** Requests, by error code of the socket. */
      socket: listErrors(troubles.socket),
      /** Requests that got no answer in time. */
      timeouts: counts.timeouts,
      /** Timed-out requests for which no connection became free. */
      neverSent: counts.neverSent,
      /** Calls of requests answered with HTTP 200 that got neither a result nor an error. */
      malformed: counts.malformed,
      malformedReason,
    },
    verification,
    serverUsage,
    generator: {
      /** Fraction of the measured time in which each thread worked, or was ready to work but had no core, 0 .. 1. */
      utilization,
      /** The part of these fractions without a core. 0 except on Linux. */
      starved,
      /** CPU time of the generator's process per second of measured time. */
      cpuCores: seconds === 0 ? 0 : round(measurement.cpuMs / seconds / 1000, 100),
      /** Open loop: delay of requests that were due and had a free connection. undefined in a closed loop. */
      sendLag,
      /** Open loop: fraction of requests that had to wait for a free connection. */
      waitedShare: counts.requests === 0 ? 0 : round(counts.waited / counts.requests, 1000),
      wasLimit: wasLimit(utilization, starved, sendLag),
    },
    /** One row per second of the measured time. Answers count in the second of their arrival. */
    timeline,
  };
}

/** Whether the generator, not the server, was the limit. Its figures are those of the report, per thread. */
export function wasLimit(
  utilization: readonly number[],
  starved: readonly number[],
  sendLag: LatencyFigures | undefined,
): boolean {
  if (utilization.some(share => share > BUSY)) return true;
  return sendLag === undefined ? starved.some(share => share > TOO_STARVED) : sendLag.p50Ms > LATE_MS;
}

/** @returns codes with how often they came, and the message of the first one; the most frequent first */
function listErrors(troubles: Readonly<Record<string, Trouble>>) {
  return Object.entries(troubles)
    .map(([code, trouble]) => ({code, ...trouble}))
    .sort((a, b) => b.count - a.count);
}

/** Rounds to a multiple of 1 / `parts`. */
function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
