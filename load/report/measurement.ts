/** What a load measured, and how its report is made from that. */
import type {LoadOptions} from "../loadOptions.ts";
import type {BlockSpan} from "../requests/blockChoice.ts";
import {correctForOmission, type Histogram, readFigures, reportLatency} from "../traffic/latency.ts";
import type {Tally, Trouble} from "../traffic/tally.ts";
import {AFTER_THE_END, type TimelineRow} from "../traffic/timeline.ts";
import type {Target} from "../verification/target.ts";
import type {Verification} from "../verification/verification.ts";
import {listFailures} from "./judgement.ts";
import type {LoadReport, ReportedErrors, ReportedSettings} from "./loadReport.ts";
import type {Machine} from "./machine.ts";
import {wasLimit, writeNotes} from "./notes.ts";

export interface Measurement {
  readonly options: LoadOptions;
  readonly machine: Machine;
  readonly startedAt: Date;
  readonly server: Target;
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
  readonly verification: Verification;
}

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
  const intervalMs = figures === undefined ? 0 : (seconds * 1000 * connections) / figures.count;
  const corrected =
    rate !== undefined || figures === undefined
      ? undefined
      : reportLatency(correctForOmission(latency, intervalMs));
  const sendLag = rate === undefined ? undefined : readFigures(measurement.sendLag);
  const report = {
    version: options.version,
    command: options.command,
    commit: options.commit,
    machine: measurement.machine,
    startedAt: measurement.startedAt.toISOString(),
    url: options.url.href,
    server: measurement.server,
    settings: reportSettings(measurement),
    loop: rate === undefined ? ("closed" as const) : ("open" as const),
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
    service: rate === undefined ? undefined : reportLatency(measurement.service),
    corrected:
      corrected === undefined ? undefined : {...corrected, intervalMs: Math.round(intervalMs * 1000) / 1000},
    errors: reportErrors(tally),
    verification: measurement.verification,
    generator: {
      utilization: measurement.utilization.map(fraction => Math.round(fraction * 1000) / 1000),
      cpuCores: seconds === 0 ? 0 : Math.round(measurement.cpuMs / seconds / 10) / 100,
      sendLag,
      waitedShare: tally.requests === 0 ? 0 : Math.round((1000 * tally.waited) / tally.requests) / 1000,
      wasLimit: wasLimit(measurement.utilization, sendLag),
    },
    timeline: measured,
  };
  return {failures: listFailures(report), ...report, notes: writeNotes(report)};
}

function reportSettings({options, blocks, keys}: Measurement): ReportedSettings {
  const {
    url: _url,
    version: _v,
    commit: _m,
    command: _c,
    keys: _keys,
    estimateParams: _p,
    ...settings
  } = options;
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
