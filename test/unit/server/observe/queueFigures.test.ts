import assert from "node:assert/strict";
import {test} from "node:test";
import {QueueFigures} from "../../../../server/observe/queueFigures.ts";

test("a unit of cost takes what tasks of all sizes take together, not what the small ones take for their way", () => {
  const figures = new QueueFigures("proof", 0);
  assert.equal(figures.costMs, 0);
  for (let at = 0; at < 200; at++) {
    figures.measure(10, 1, 2000);
    figures.measure(10, 1, 1);
  }
  assert.ok(figures.costMs > 0.009 && figures.costMs < 0.012, `${figures.costMs} ms`);
  assert.ok(Math.abs(figures.serviceMs - 10) < 0.01, `${figures.serviceMs} ms`);
});
