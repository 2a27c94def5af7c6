/** The report of a load as data. `--json` prints it; textReport.ts and htmlReport.ts format it. */
import {createRedaction} from "proofd-client";
import type {LatencyReport} from "../traffic/latency.ts";
import {listFailures} from "./judgement.ts";
import {type Measured, type Measurement, measure} from "./measurement.ts";
import {writeNotes, writeWarnings} from "./notes.ts";

export interface LoadReport extends Measured {
  /** Why the load failed; empty if it passed. */
  readonly failures: readonly string[];
  /** Why the figures may not describe the server. */
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
  readonly against: Comparison | undefined;
}

interface Comparison extends Pick<LoadReport, "startedAt" | "commit" | "command" | "loop"> {
  readonly latency: Pick<LatencyReport, "count" | "distribution"> | undefined;
  readonly figures: readonly {readonly name: string; readonly earlier: number; readonly now: number}[];
}

/** @returns JSON in which undefined fields are null */
export function encodeReport(report: LoadReport): string {
  return JSON.stringify(report, (_name, value: unknown) => value ?? null);
}

export function createReport(measurement: Measurement): LoadReport {
  const measured = measure(measurement);
  const texts = {
    failures: listFailures(measured),
    warnings: writeWarnings(measured),
    notes: writeNotes(measured),
  };
  const {url, headers = {}} = measurement.options;
  return redactTexts({...texts, ...measured, against: undefined}, createRedaction(url, headers));
}

/** Removes keys from all texts, since a server may repeat the URL or headers in its errors and names. */
function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  if (typeof value === "string") return redact(value) as Value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(one => redactTexts<unknown>(one, redact)) as Value;
  const fields = Object.entries(value).map(([name, one]) => [name, redactTexts<unknown>(one, redact)]);
  return Object.fromEntries(fields) as Value;
}
