/** Compares a run with an earlier one (`--against`). */
import {isObject} from "../traffic/answer.ts";
import type {LatencyReport} from "../traffic/latency.ts";
import type {LoadReport} from "./loadReport.ts";

/** The fields of an earlier report that are compared. */
export type EarlierRun = Pick<LoadReport, "startedAt" | "commit" | "command"> & Compared;

type Compared = Pick<LoadReport, "perSecond" | "settings" | "loop"> & {
  readonly latency?: Pick<LatencyReport, "count" | "p50Ms" | "p99Ms" | "distribution"> | undefined;
  readonly serverUsage: LoadReport["serverUsage"];
};

/** @param text - a report of `proofd load --json`. @throws Error if it is not one */
export function readEarlierRun(text: string): EarlierRun {
  let run: unknown;
  try {
    run = JSON.parse(text, (_name, value: unknown) => value ?? undefined);
  } catch {
    // `run` stays undefined, which is refused below.
  }
  const isRun =
    isObject(run) &&
    [run.startedAt, run.commit, run.command].every(field => typeof field === "string") &&
    [run.settings, run.perSecond].every(isObject);
  if (!isRun) throw new Error("expected a report of `proofd load --json`");
  return run as unknown as EarlierRun;
}

export function compareReport(report: LoadReport, earlier: EarlierRun): LoadReport {
  const before = listFigures(earlier);
  const figures = [...listFigures(report)].flatMap(([name, now]) => {
    const old = before.get(name);
    return old === undefined ? [] : [{name, earlier: old, now}];
  });
  const [olds, owns] = [settingsOf(earlier), settingsOf(report)];
  const others = Object.keys(owns).filter(name => (olds[name] ?? "") !== owns[name]);
  const {startedAt, commit, command, loop, latency} = earlier;
  const warnings =
    others.length === 0
      ? report.warnings
      : [
          ...report.warnings,
          `The earlier run was another load. These of its settings differ: ${others.join(", ")}.`,
        ];
  return {...report, warnings, against: {startedAt, commit, command, loop, latency, figures}};
}

/** Figures that are unknown or zero are left out. */
function listFigures({perSecond, latency, serverUsage}: Compared): Map<string, number> {
  const usage = typeof serverUsage === "object" ? serverUsage : undefined;
  const figures: [string, number | undefined][] = [
    ["requests/s", perSecond.requests],
    ["proofs/s", perSecond.proofs],
    ["p50, ms", latency?.p50Ms],
    ["p99, ms", latency?.p99Ms],
    ["CPU, us", usage && (1e6 * usage.cpuCores) / perSecond.proofs],
    ["memory, MB", usage && usage.memoryBytes / 1e6],
  ];
  return new Map(
    figures.filter(
      (figure): figure is [string, number] => Number.isFinite(figure[1]) && Number(figure[1]) > 0,
    ),
  );
}

function settingsOf({settings, loop}: Compared): Readonly<Record<string, string>> {
  const {limits: _limits, verify: _verify, ...load} = settings;
  return Object.fromEntries(
    Object.entries({...load, loop}).map(([name, value]) => [name, JSON.stringify(value) ?? ""]),
  );
}
