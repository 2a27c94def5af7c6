import assert from "node:assert/strict";
import {test} from "node:test";
import {
  type BenchRun,
  type Figure,
  parseRun,
  type Result,
  RUN_FORMAT,
} from "../../../../bench/stages/benchRun.ts";
import {writeReport} from "../../../../bench/stages/report.ts";

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
/** @returns the cells that compare with the earlier run, of the heading and of each row */
function comparedCells(...rows: readonly (Result | Figure)[]): string[][] {
  const lines = writeReport(rows, before).trimEnd().split("\n");
  return lines.toSpliced(1, 1).map(line =>
    line
      .split("|")
      .slice(-4, -1)
      .map(cell => cell.trim()),
  );
}

test("a change of time or yardsticks is marked if it is larger than both runs' errors; figures are compared by value", () => {
  const size = {...WHERE, name: "size", value: 150, unit: "bytes"};
  const rows = comparedCells(
    // A machine of half the speed: twice the time, and the same number of hashes.
    makeResult("head", 20, 2, 4),
    makeResult("old", 21.7, 1, 4),
    makeResult("old", 18.5, 1, 4),
    makeResult("new", 5, 1, 4),
    size,
  );
  assert.deepEqual(rows, [
    ["us before", "time", "yardsticks"],
    ["10", "+100.0%*", "+0.0%"],
    ["20", "+8.5%*", "+8.5%*"],
    ["20", "-7.5%", "-7.5%"],
    ["", "", ""],
    ["200", "-25.0%", ""],
  ]);
  assert.match(writeReport([size], undefined), /\| proof +\| size +\| 150 bytes \|/);
});

test("only a run on a store of the same size can be compared with", () => {
  const size = {accounts: 1000, blocks: 2};
  for (const [text, message] of [
    ["{", /^expected the JSON of an earlier run with --accounts 1000 --blocks 2, got other text$/],
    ["{}", / and format \d+, got format undefined$/],
    [JSON.stringify({format: RUN_FORMAT, accounts: 1000, blocks: 3}), /, got 1000 accounts and 3 blocks$/],
  ] as const)
    assert.throws(() => parseRun(text, size), {message});
  assert.equal(parseRun(JSON.stringify({format: RUN_FORMAT, ...size}), size).blocks, 2);
});
