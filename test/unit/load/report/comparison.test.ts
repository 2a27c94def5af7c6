/** Figures of an earlier run beside those of this one. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {compareReport, readEarlierRun} from "../../../../load/report/comparison.ts";
import type {LoadReport} from "../../../../load/report/loadReport.ts";
import {usageBetween} from "../../../../load/verification/serverUsage.ts";

/** Percentiles and milliseconds. */
const CURVE = [
  [0, 1],
  [100, 9],
];

function runOf(proofs: number, p50Ms: number | undefined, more: object = {}): LoadReport {
  return {
    ...{
      startedAt: "2026-01-01",
      commit: "c",
      command: "proofd load",
      loop: "closed",
      warnings: ["a warning"],
    },
    settings: {batch: 1, rate: undefined},
    perSecond: {requests: 10, proofs},
    latency: p50Ms === undefined ? undefined : {count: 2, p50Ms, p99Ms: 9, distribution: CURVE},
    serverUsage: {cpuCores: 0.5, memoryBytes: 2e6},
    ...more,
  } as unknown as LoadReport;
}

const reread = (run: LoadReport) =>
  readEarlierRun(JSON.stringify(run, (_name, value: unknown) => value ?? null));

test("each figure that both runs have stands beside the earlier one, and other settings are named", () => {
  const {against, warnings} = compareReport(runOf(100, 2), reread(runOf(50, 4)));
  assert.deepEqual(
    against?.figures.find(({name}) => name === "CPU, us"),
    {name: "CPU, us", earlier: 10_000, now: 5000},
  );
  assert.deepEqual(
    against?.figures.map(({name, earlier, now}) => [name, now / earlier]),
    [
      ["requests/s", 1],
      ["proofs/s", 2],
      ["p50, ms", 0.5],
      ["p99, ms", 1],
      ["CPU, us", 0.5],
      ["memory, MB", 1],
    ],
  );
  assert.deepEqual([against?.loop, against?.latency?.distribution], ["closed", CURVE], "for the chart");
  assert.deepEqual(warnings, ["a warning"]);
  const other = compareReport(
    runOf(0, undefined),
    reread(runOf(50, 4, {settings: {batch: 2}, serverUsage: "no"})),
  );
  assert.deepEqual(
    other.against?.figures.map(({name}) => name),
    ["requests/s"],
  );
  assert.deepEqual(other.warnings.slice(1), [
    "The earlier run was another load. These of its settings differ: batch.",
  ]);
});

test("text that is not a report of a run is refused", () => {
  const run = runOf(1, 1);
  const broken = ["startedAt", "commit", "command", "settings", "perSecond"].map(name =>
    JSON.stringify({...run, [name]: undefined}),
  );
  for (const text of ["", "[]", "null", ...broken])
    assert.throws(() => readEarlierRun(text), /expected a report of `proofd load --json`/, text);
});

test("processor time is counted between two readings, and a server that has started again has none", () => {
  const at = (seconds: number, cpuSeconds: number) => ({atMs: 1000 * seconds, cpuSeconds, memoryBytes: 5});
  assert.deepEqual(usageBetween(at(1, 3), at(3, 4)), {cpuCores: 0.5, memoryBytes: 5});
  assert.equal(usageBetween(at(1, 3), at(3, 1)), "the server was restarted");
  assert.equal(usageBetween("why not", at(3, 1)), "why not");
});
