import assert from "node:assert/strict";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {type BenchRun, type Result, RUN_FORMAT, readRun} from "../../../../bench/stages/benchRun.ts";
import {RunReport} from "../../../../bench/stages/report.ts";

const WHERE = {suite: "sha256", stage: "proof"};

function makeResult(name: string, medianUs: number, yardstickUs: number, errorPercent: number): Result {
  return {
    ...WHERE,
    ...{name, medianUs, p99Us: 2 * medianUs, errorPercent},
    ...{perSecond: 1e6 / medianUs, yardsticks: medianUs / yardstickUs},
  };
}

const before = {
  results: [makeResult("head", 10, 1, 4), makeResult("old", 20, 1, 4)],
  figures: [{...WHERE, name: "size", value: 200, unit: "bytes"}],
} as unknown as BenchRun;
const report = new RunReport(before);

function cellsOf(row: string): string[] {
  return row.split("|").map(cell => cell.trim());
}

test("a change of time or yardsticks is marked if it is larger than both runs' errors", () => {
  assert.deepEqual(cellsOf(report.writeHeading().split("\n")[0] as string).slice(-4, -1), [
    "us before",
    "time",
    "yardsticks",
  ]);
  // A machine of half the speed: twice the time, and the same number of hashes.
  assert.deepEqual(cellsOf(report.writeResult(makeResult("head", 20, 2, 4))).slice(-4, -1), [
    "10",
    "+100.0%*",
    "+0.0%",
  ]);
  const slower = report.writeResult(makeResult("old", 21.7, 1, 4));
  assert.deepEqual(cellsOf(slower).slice(-4, -1), ["20", "+8.5%*", "+8.5%*"]);
  assert.deepEqual(cellsOf(report.writeResult(makeResult("old", 18.5, 1, 4))).slice(-3, -1), [
    "-7.5%",
    "-7.5%",
  ]);
});

test("a task that the earlier run does not have is printed without a comparison; figures are compared by value", () => {
  assert.deepEqual(cellsOf(report.writeResult(makeResult("new", 5, 1, 4))).slice(-4, -1), ["", "", ""]);
  const figure = {...WHERE, name: "size", value: 150, unit: "bytes"};
  assert.deepEqual(cellsOf(report.writeFigure(figure)).slice(-4, -1), ["200", "-25.0%", ""]);
  assert.equal(cellsOf(new RunReport(undefined).writeFigure(figure))[3], "150 bytes");
});

test("only a run on a store of the same size can be compared with", () => {
  const folder = mkdtempSync(join(tmpdir(), "proofd-run-"));
  try {
    const path = join(folder, "run.json");
    const size = {accounts: 1000, blocks: 2};
    for (const [text, message] of [
      [
        "{",
        /^--against: expected the JSON of an earlier run with --accounts 1000 --blocks 2, got '.*' \(.+\)$/,
      ],
      ["{}", / and format \d+, got '.*' of format undefined$/],
      [
        JSON.stringify({format: RUN_FORMAT, accounts: 1000, blocks: 3}),
        /, got '.*' of 1000 accounts and 3 blocks$/,
      ],
    ] as const) {
      writeFileSync(path, text);
      assert.throws(() => readRun(path, size), {message});
    }
    writeFileSync(path, JSON.stringify({format: RUN_FORMAT, ...size}));
    assert.equal(readRun(path, size).blocks, 2);
  } finally {
    rmSync(folder, {recursive: true});
  }
});
