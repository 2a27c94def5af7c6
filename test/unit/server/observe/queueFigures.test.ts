import assert from "node:assert/strict";
import {beforeEach, test} from "node:test";
import {QueueFigures} from "../../../../server/observe/queueFigures.ts";

let figures: QueueFigures;
beforeEach(() => {
  figures = new QueueFigures("proof", 0);
});

/** Whether it is so up to a hundredth. */
function near(expected: number): boolean {
  return Math.abs(figures.costMs / expected - 1) < 0.01;
}

test("a unit of cost takes what tasks of all sizes take together, not what the small ones take for their way", () => {
  for (let at = 0; at < 5000; at++) {
    figures.drain(10, 1, 2000);
    figures.drain(10, 1, 1);
  }
  assert.ok(near(20 / 2001), `${figures.costMs} ms`);
});

test("a delay of the main thread that holds up many tasks counts once", () => {
  for (let round = 0; round < 500; round++) {
    figures.drain(2000, 1, 20);
    for (let task = 1; task < 200; task++) figures.drain(5, 1, 20);
  }
  const ms = (2000 + 199 * 5) / (200 * 20);
  assert.ok(figures.costMs > 0.7 * ms && figures.costMs < 1.3 * ms, `${figures.costMs} ms`);
});

test("workers that had nothing to do would have drained too", () => {
  for (let at = 0; at < 5000; at++) figures.drain(10, 1 / 4, 20);
  assert.ok(near(10 / 4 / 20), `${figures.costMs} ms`);
});

test("tasks that wait for their threads to start do not tell how long later ones take", () => {
  assert.equal(figures.costMs, 0);
  figures.drain(800, 1, 20);
  for (let task = 1; task < 4; task++) figures.drain(0, 1, 20);
  assert.ok(figures.costMs < 1, `${figures.costMs} ms`);
});

test("the time of a call is the mean of the last ones", () => {
  for (let at = 0; at < 200; at++) figures.measure(20, 2);
  assert.ok(Math.abs(figures.serviceMs - 10) < 0.01, `${figures.serviceMs} ms`);
});
