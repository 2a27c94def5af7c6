/** When the generator was the limit. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {wasLimit} from "../../../../load/report/measurement.ts";
import {createHistogram, readFigures, recordMs} from "../../../../load/traffic/latency.ts";

function lagOf(ms: number) {
  const histogram = createHistogram();
  recordMs(histogram, ms);
  return readFigures(histogram);
}

test("a thread that is always busy or lacks a core is the limit, and one that sends late, but not one that waits for the server", () => {
  const table: readonly (readonly [
    utilization: number[],
    starved: number[],
    lagMs: number | undefined,
    boolean,
  ])[] = [
    [[0.45, 0.44], [0.2, 0.24], undefined, false],
    [[0.91, 0.1], [0, 0], undefined, true],
    [[0.65, 0.2], [0.1, 0.57], undefined, true],
    [[0.65], [0.57], 0.5, false],
    [[0.1], [0], 11, true],
    [[0.95], [0], 0.5, true],
  ];
  for (const [utilization, starved, lagMs, expected] of table) {
    const lag = lagMs === undefined ? undefined : lagOf(lagMs);
    assert.equal(
      wasLimit(utilization, starved, lag),
      expected,
      JSON.stringify([utilization, starved, lagMs]),
    );
  }
});
