import assert from "node:assert/strict";
import {test} from "node:test";
import type {BenchRun, Result} from "../../../../bench/stages/benchRun.ts";
import {compareRuns} from "../../../../bench/stages/comparison.ts";
import {comparisonText} from "../../../../bench/stages/report.ts";

const MACHINE = {
  cpu: "a CPU",
  cores: 2,
  memoryGb: 8,
  node: "20.20.2",
  commit: "abc1234",
  isDirty: false,
  date: "2026-11-21T16:00:00.000Z",
};

/** @param errorPercent - half of the least change that counts between two such results */
function result(name: string, medianUs: number, yardstickUs = 1, errorPercent = 2): Result {
  return {
    suite: "sha256",
    stage: "proof",
    name,
    units: 64,
    samples: 100,
    medianUs,
    p99Us: 2 * medianUs,
    errorPercent,
    perSecond: 1e6 / medianUs,
    yardstickUs,
    yardsticks: medianUs / yardstickUs,
  };
}

function run(results: readonly Result[], different: Partial<BenchRun> = {}): BenchRun {
  return {
    format: 1,
    machine: MACHINE,
    accounts: 1000,
    blocks: 5,
    timeMs: 20,
    stores: {},
    results,
    figures: [],
    ...different,
  };
}

test("a run against itself differs in nothing", () => {
  const same = run([result("a", 10), result("b", 20)]);
  const {notes, changes} = compareRuns(same, same);
  assert.deepEqual(notes, []);
  assert.equal(changes.length, 2);
  for (const {time, yardsticks, isTimeBeyond, isYardsticksBeyond} of changes)
    assert.deepEqual([time, yardsticks, isTimeBeyond, isYardsticksBeyond], [0, 0, false, false]);
});

test("a change counts from beyond the errors of both runs together, in either direction", () => {
  for (const [afterUs, counts] of [
    [104, false],
    [106, true],
    [96, false],
    [94, true],
  ] as const) {
    const {changes} = compareRuns(run([result("a", 100, 1, 2)]), run([result("a", afterUs, 1, 3)]));
    assert.equal(changes[0]?.isTimeBeyond, counts, `${afterUs} us`);
    assert.equal(changes[0]?.isYardsticksBeyond, counts, `${afterUs} us`);
  }
});

test("a machine of half the speed changes the time, not the yardsticks", () => {
  const [change] = compareRuns(run([result("a", 50, 1)]), run([result("a", 100, 2)])).changes;
  assert.deepEqual([change?.time, change?.isTimeBeyond], [1, true]);
  assert.deepEqual([change?.yardsticks, change?.isYardsticksBeyond], [0, false]);
});

test("whatever else differs is named with both values", () => {
  const before = run([]);
  const machine = {...MACHINE, node: "22.3.0", isDirty: true, date: "2026-11-22T00:00:00.000Z"};
  const after = run([], {accounts: 1_000_000, machine});
  assert.deepEqual(compareRuns(before, after).notes, [
    "accounts: 1000 before, 1000000 now",
    "commit: abc1234 before, abc1234 (dirty) now",
    "Node: 20.20.2 before, 22.3.0 now",
  ]);
});

test("tasks match by suite, stage and name; what only one run has is named", () => {
  const before = run([result("gone", 10), result("kept", 10), {...result("kept", 30), stage: "path"}]);
  const after = run([result("kept", 20), result("new", 10)]);
  const {changes, notes} = compareRuns(before, after);
  assert.equal(changes.length, 1);
  assert.equal(changes[0]?.time, 1);
  assert.deepEqual(notes, [
    "only before: sha256 proof: gone; sha256 path: kept",
    "only now: sha256 proof: new",
  ]);
});

test("the text marks what counts, and shows figures that are no times", () => {
  const figure = {suite: "sha256", stage: "commit", name: "written per leaf write", unit: "bytes"};
  const before = run([result("a", 100), result("b", 100)], {figures: [{...figure, value: 2000}]});
  const after = run([result("a", 200), result("b", 101)], {figures: [{...figure, value: 1000}]});
  const lines = comparisonText(compareRuns(before, after)).split("\n");
  assert.match(lines[2] ?? "", /^\| proof +\| a +\| +100 \| +200 \| +\+100\.0%\* \| +\+100\.0%\* \|$/);
  assert.match(lines[3] ?? "", /^\| proof +\| b +\| +100 \| +101 \| +\+1\.0% {2}\| +\+1\.0% {2}\|$/);
  assert.match(lines[4] ?? "", /^\| commit +\| written per leaf write +\| +2 000 \| +1 000 \| +-50\.0% \|/);
});
