/** What a load measured, and how its report is made from that. */
import type {LoadOptions} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/requestMaker.ts";
import {correctForOmission, type Histogram, readFigures, reportLatency} from "../traffic/latency.ts";
import type {Tally, Trouble} from "../traffic/tally.ts";
import {AFTER_THE_END, type Arrived, type TimelineRow} from "../traffic/timeline.ts";
import {listFailures} from "./judgement.ts";
import type {LoadReport, ReportedError} from "./loadReport.ts";
import {wasLimit, writeNotes} from "./notes.ts";

export interface Measurement extends Pick<LoadReport, "machine" | "server" | "verification"> {
  readonly options: LoadOptions;
  readonly startedAt: Date;
  readonly blocks: BlockSpan | undefined;
  readonly keys: string;
  readonly seconds: number;
  readonly tally: Tally;
  readonly latency: Histogram;
  readonly sendLag: Histogram;
  readonly service: Histogram;
  readonly timeline: readonly TimelineRow[];
  readonly utilization: readonly number[];
  readonly cpuMs: number;
}

export function createReport(measurement: Measurement): LoadReport {
  const {machine, server, verification, blocks, keys, seconds, latency} = measurement;
  const {
    url,
    version,
    commit,
    command,
    keys: _keys,
    estimateParams: _params,
    ...settings
  } = measurement.options;
  const {batch, slots, rate, connections} = settings;
  const {counts, troubles, malformedReason} = measurement.tally;
  const timeline = measurement.timeline.filter(({second}) => second >= 0 && second !== AFTER_THE_END);
  const late = measurement.timeline.filter(({second}) => second === AFTER_THE_END);
  const sum = (rows: readonly TimelineRow[], field: keyof Arrived) =>
    rows.reduce((total, row) => total + row[field], 0);
  const perSecond = (field: keyof Arrived) =>
    seconds === 0 ? 0 : round(sum(timeline, field) / seconds, 100);
  const failed = counts.requests - counts.answered;
  const isOpen = rate !== undefined;
  const figures = reportLatency(latency);
  const sendLag = isOpen ? readFigures(measurement.sendLag) : undefined;
  const report = {
    version,
    command,
    commit,
    machine,
    startedAt: measurement.startedAt.toISOString(),
    url: url.href,
    server,
    settings: {...settings, blocks, keys},
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
    latency: figures,
    service: isOpen ? reportLatency(measurement.service) : undefined,
    corrected:
      isOpen || figures === undefined
        ? undefined
        : correct(latency, (seconds * 1000 * connections) / figures.count),
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
    generator: {
      utilization: measurement.utilization.map(fraction => round(fraction, 1000)),
      cpuCores: seconds === 0 ? 0 : round(measurement.cpuMs / seconds / 1000, 100),
      sendLag,
      waitedShare: counts.requests === 0 ? 0 : round(counts.waited / counts.requests, 1000),
      wasLimit: wasLimit(measurement.utilization, sendLag),
    },
    timeline,
  };
  return {failures: listFailures(report), ...report, notes: writeNotes(report)};
}

function correct(latency: Histogram, intervalMs: number): LoadReport["corrected"] {
  const corrected = reportLatency(correctForOmission(latency, intervalMs));
  return corrected === undefined ? undefined : {...corrected, intervalMs: round(intervalMs, 1000)};
}

function listErrors(troubles: Readonly<Record<string, Trouble>>): ReportedError[] {
  return Object.entries(troubles)
    .map(([code, trouble]) => ({code, ...trouble}))
    .sort((a, b) => b.count - a.count);
}

/** @param parts - of one; the value is rounded to a whole number of them */
function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
