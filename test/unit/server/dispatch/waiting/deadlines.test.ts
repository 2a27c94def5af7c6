import assert from "node:assert/strict";
import {test} from "node:test";
import {Deadlines, TICK_MS} from "../../../../../server/dispatch/waiting/deadlines.ts";

test("an element is due at its deadline or up to a tick later, never before", () => {
  for (const nowMs of [0, 1, TICK_MS - 0.5, TICK_MS, 123_456.7])
    for (const timeoutMs of [1, TICK_MS, TICK_MS + 1, 60_000]) {
      const deadlines = new Deadlines<string>();
      deadlines.add("a", nowMs, timeoutMs);
      assert.deepEqual(deadlines.take(nowMs + timeoutMs - 0.001), [], `${nowMs} and ${timeoutMs}`);
      assert.deepEqual(deadlines.take(nowMs + timeoutMs + TICK_MS), ["a"], `${nowMs} and ${timeoutMs}`);
      assert.deepEqual(deadlines.take(nowMs + timeoutMs + 10 * TICK_MS), []);
    }
});

test("elements come in the order of their deadlines, each once, however late they are taken", () => {
  const deadlines = new Deadlines<number>();
  for (const timeoutMs of [900, 100, 500, 101, 1200]) deadlines.add(timeoutMs, 0, timeoutMs);
  assert.deepEqual(deadlines.take(200), [100, 101]);
  assert.deepEqual(deadlines.take(950), [500, 900]);
  deadlines.add(7, 980, 1);
  assert.deepEqual(deadlines.take(5000), [7, 1200]);
  assert.deepEqual(deadlines.take(50_000), []);
});

test("an element that is removed is not due", () => {
  const deadlines = new Deadlines<string>();
  const tick = deadlines.add("a", 0, 100);
  deadlines.add("b", 0, 100);
  deadlines.remove("a", tick);
  deadlines.remove("a", tick);
  assert.deepEqual(deadlines.take(1000), ["b"]);
});

test("after a time without elements the ticks of that time are not looked at", () => {
  const deadlines = new Deadlines<string>();
  const farMs = Number.MAX_SAFE_INTEGER / 2;
  deadlines.add("a", farMs, 1000);
  assert.deepEqual(deadlines.take(farMs), []);
  assert.deepEqual(deadlines.take(farMs + 2000), ["a"]);
});
