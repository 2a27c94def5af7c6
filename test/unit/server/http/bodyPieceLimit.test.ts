import assert from "node:assert/strict";
import {afterEach, beforeEach, mock, test} from "node:test";
import {BodyPieceLimit} from "../../../../server/http/bodyPieceLimit.ts";

let nowMs = 0;

beforeEach(() => {
  mock.method(performance, "now", () => nowMs);
});

afterEach(() => mock.reset());

/** Sends `count` pieces at once. @param place - of the first one. @returns how many are taken */
function take(limit: BodyPieceLimit, client: string, count: number, byteCount = 1, place = 17): number {
  for (let taken = 0; taken < count; taken++)
    if (limit.isExceeded(byteCount, place + taken, () => client)) return taken;
  return count;
}

test("a client may send 2048 small pieces at once on all its connections, and 10 more in each millisecond", () => {
  const limit = new BodyPieceLimit();
  assert.equal(take(limit, "a", 2000), 2000);
  assert.equal(take(limit, "a", 2000), 48);
  assert.equal(take(limit, "b", 2000), 2000, "of another client");
  nowMs += 50;
  assert.equal(take(limit, "a", 2000), 499);
});

test("pieces of 4 KB and the first 16 of a body in a turn of the event loop do not count", () => {
  const limit = new BodyPieceLimit();
  assert.equal(take(limit, "a", 10_000, 4096), 10_000);
  for (let body = 0; body < 1000; body++) assert.equal(take(limit, "a", 16, 1, 1), 16);
  assert.equal(take(limit, "a", 3000), 2048);
});
