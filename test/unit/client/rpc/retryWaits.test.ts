import assert from "node:assert/strict";
import {test} from "node:test";
import {parseRetryAfter, retryWaitMs} from "../../../../client/rpc/retryWaits.ts";

const SETTINGS = {times: 4, firstMs: 100, longestMs: 300};

test("each wait is between half and the whole of a step, which doubles up to the longest", () => {
  for (const [tries, stepMs] of [
    [1, 100],
    [2, 200],
    [3, 300],
    [4, 300],
  ] as const)
    for (let i = 0; i < 50; i++) {
      const waitMs = retryWaitMs(SETTINGS, tries) as number;
      assert.ok(waitMs >= stepMs / 2 && waitMs <= stepMs, `${tries}: ${waitMs}`);
    }
  assert.equal(retryWaitMs(SETTINGS, 5), undefined);
});

test("no wait is shorter than what the server asks for, and one that is too long ends the tries", () => {
  assert.equal(retryWaitMs(SETTINGS, 1, 250), 250);
  assert.equal(retryWaitMs(SETTINGS, 1, 301), undefined);
});

const NOW_MS = Date.parse("2026-11-22T12:00:00Z");

test("seconds and dates become milliseconds from now, and a date that is past becomes 0", () => {
  assert.equal(parseRetryAfter("0", NOW_MS), 0);
  assert.equal(parseRetryAfter(" 120 ", NOW_MS), 120_000);
  assert.equal(parseRetryAfter("Sun, 22 Nov 2026 12:00:30 GMT", NOW_MS), 30_000);
  assert.equal(parseRetryAfter("Sun, 22 Nov 2026 11:00:00 GMT", NOW_MS), 0);
});

test("other text is no wait", () => {
  for (const text of ["", "-1", "1.5", "soon", "2026-11-22T12:00:30Z", "1e9", "9".repeat(400)])
    assert.equal(parseRetryAfter(text, NOW_MS), undefined, text);
});
