/** Turns what a load measured into its report. */
import {createRedaction, redactUrl} from "proofd-client";
import type {LoadOptions} from "../loadOptions.ts";
import {describeKeys, type Keys} from "../requests/keys.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import {addHistograms, readFigures, reportLatency} from "../traffic/latency.ts";
import type {DriverEnd} from "../traffic/recorder.ts";
import {addTally, createTally, type Trouble} from "../traffic/tally.ts";
import {AFTER_THE_END, type Arrived, type Timeline, type TimelineRow} from "../traffic/timeline.ts";
import {listFailures} from "./judgement.ts";
import type {LoadReport, ReportedError} from "./loadReport.ts";
import {wasLimit, writeNotes, writeWarnings} from "./notes.ts";

interface Measurement
  extends Pick<LoadReport, "machine" | "server" | "verification" | "serverUsage" | "seconds"> {
  readonly options: LoadOptions;
  readonly startedAt: Date;
  readonly blocks: BlockSpan | undefined;
  readonly keys: Keys;
  readonly ends: readonly DriverEnd[];
  readonly timeline: Timeline;
  readonly cpuMs: number;
}

export function createReport(measurement: Measurement): LoadReport {
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
  const report = {
    version,
    command,
    commit,
    machine,
    startedAt: measurement.startedAt.toISOString(),
    url: redactUrl(url),
    server,
    settings: {...settings, blocks, keys: describeKeys(keys)},
    loop: isOpen ? ("open" as const) : ("closed" as const),
    seconds: round(seconds, 1000),
    stopped: seconds < settings.durationSeconds,
    perSecond: {
      requests: perSecond("answered"),
      calls: perSecond("results"),
      proofs: perSecond("proofs"),
      bytes: perSecond("bytes"),
    },
    requests: {
      due: counts.requests,
      answered: counts.answered,
      failed,
      late: sum(late, "answered") + sum(late, "failed"),
    },
    calls: {
      due: counts.requests * batch,
      results: counts.results,
      errors: Object.values(troubles.rpc).reduce((total, {count}) => total + count, 0),
      malformed: counts.malformed,
      lost: failed * batch,
      proofs: (counts.results - counts.estimateResults) * (1 + slots),
      estimates: counts.estimateResults,
    },
    latency: reportLatency(measurement.timeline.total),
    service: isOpen ? reportLatency(addHistograms(ends.map(end => end.service))) : undefined,
    errors: {
      rpc: listErrors(troubles.rpc),
      http: listErrors(troubles.http),
      socket: listErrors(troubles.socket),
      timeouts: counts.timeouts,
      neverSent: counts.neverSent,
      malformed: counts.malformed,
      malformedReason,
    },
    verification,
    serverUsage,
    generator: {
      utilization,
      starved,
      cpuCores: seconds === 0 ? 0 : round(measurement.cpuMs / seconds / 1000, 100),
      sendLag,
      waitedShare: counts.requests === 0 ? 0 : round(counts.waited / counts.requests, 1000),
      wasLimit: wasLimit(utilization, starved, sendLag),
    },
    timeline,
  };
  const {headers = {}} = measurement.options;
  const texts = {failures: listFailures(report), warnings: writeWarnings(report), notes: writeNotes(report)};
  return redactTexts({...texts, ...report, against: undefined}, createRedaction(url, headers));
}

/** Removes keys from all texts, since a server may repeat the URL or headers in its errors and names. */
function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(one => redactTexts<unknown>(one, redact)) as Value;
  const fields = Object.entries(value).map(([name, one]) => [name, redactTexts<unknown>(one, redact)]);
  return Object.fromEntries(fields) as Value;
}

function listErrors(troubles: Readonly<Record<string, Trouble>>): ReportedError[] {
  return Object.entries(troubles)
    .map(([code, trouble]) => ({code, ...trouble}))
    .sort((a, b) => b.count - a.count);
}

/** Rounds to a multiple of 1 / `parts`. */
function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
