import assert from "node:assert/strict";
import {test} from "node:test";
import {Backoff} from "../../../../nodes/rpc/backoff.ts";

const SETTINGS = {firstMs: 100, longestMs: 700};

test("waits double up to the longest, and begin again after a reset", () => {
  const backoff = new Backoff(SETTINGS, () => 1);
  assert.deepEqual(
    Array.from({length: 5}, () => backoff.next()),
    [100, 200, 400, 700, 700],
  );
  backoff.reset();
  assert.equal(backoff.next(), 100);
});

test("jitter takes away up to half of a wait", () => {
  const numbers = [0, 0.5, 0.25];
  const backoff = new Backoff(SETTINGS, () => numbers.shift() as number);
  assert.deepEqual([backoff.next(), backoff.next(), backoff.next()], [50, 150, 250]);
});
