/** How the threads' seconds and histograms come together. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {
  createHistogram,
  decodeHistogram,
  encodeHistogram,
  readFigures,
  recordMs,
  reportLatency,
} from "../../../../load/traffic/latency.ts";
import {Schedule} from "../../../../load/traffic/schedule.ts";
import {AFTER_THE_END, createArrived, type PostedRow, Timeline} from "../../../../load/traffic/timeline.ts";

function rowOf(second: number, latenciesMs: readonly number[]): PostedRow {
  const histogram = createHistogram();
  for (const ms of latenciesMs) recordMs(histogram, ms);
  const count = latenciesMs.length;
  const latency = count === 0 ? undefined : encodeHistogram(histogram);
  const arrived = {...createArrived(), answered: count, results: 2 * count, bytes: 100 * count};
  return {second, arrived, latency};
}

test("a second is shown when every thread has ended it, and holds what all of them saw", () => {
  const timeline = new Timeline(2);
  assert.deepEqual(timeline.add(0, rowOf(0, [1, 2])), []);
  assert.deepEqual(timeline.add(0, rowOf(1, [5])), []);
  const [row, ...others] = timeline.add(1, rowOf(0, [3, 40]));
  assert.ok(row !== undefined && others.length === 0);
  const {second, answered, results, bytes, p50Ms, maxMs} = row;
  assert.deepEqual({second, answered, results, bytes}, {second: 0, answered: 4, results: 8, bytes: 400});
  assert.deepEqual([Math.round(p50Ms ?? 0), Math.round(maxMs ?? 0)], [2, 40]);
  const [next] = timeline.add(1, rowOf(AFTER_THE_END, [100]));
  assert.deepEqual([next?.second, next?.answered], [1, 1], "the other thread saw nothing in it");
});

test("the whole is in order, and its latency is that of all rows", () => {
  const timeline = new Timeline(2);
  const all: number[] = [];
  for (const [thread, second] of [
    [0, -1],
    [1, -1],
    [0, 0],
    [1, 0],
    [1, 2],
    [0, 2],
    [1, AFTER_THE_END],
  ] as const) {
    const latencies =
      second < 0
        ? []
        : Array.from({length: 50}, (_, i) => (thread + 1) * (second === AFTER_THE_END ? 9 : second + 1) * i);
    all.push(...latencies);
    timeline.add(thread, rowOf(second, latencies));
  }
  assert.deepEqual(
    timeline.end().map(({second}) => second),
    [-1, 0, 2, AFTER_THE_END],
  );
  const expected = createHistogram();
  for (const ms of all) recordMs(expected, ms);
  const crossed = decodeHistogram(encodeHistogram(expected));
  assert.deepEqual(readFigures(timeline.total), readFigures(crossed));
  assert.equal(timeline.end()[0]?.p50Ms, undefined, "a second without measured requests has no latency");
});

test("latencies keep three digits, up to an hour, and a distribution ends at the highest", () => {
  const histogram = createHistogram();
  for (const ms of [0, 0.001, 0.25, 7_200_000]) recordMs(histogram, ms);
  assert.equal(histogram.totalCount, 4);
  const report = reportLatency(histogram) ?? assert.fail("there are values");
  assert.ok(Math.abs(report.maxMs / 3_600_000 - 1) < 0.001);
  assert.equal(report.p50Ms, 0.001);
  assert.deepEqual(report.distribution.at(-1), [100, report.maxMs]);
  assert.equal(reportLatency(createHistogram()), undefined);
});

test("threads take turns in an open loop", () => {
  const threads = [0, 1, 2].map(thread => new Schedule(1000, 300, 3, thread));
  const due: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (const schedule of threads) {
      due.push(schedule.dueMs);
      schedule.advance();
    }
  }
  due.forEach((ms, k) => {
    assert.ok(Math.abs(ms - (1000 + (k * 1000) / 300)) < 1e-9, `request ${k} at ${ms}`);
  });
});
