import assert from "node:assert/strict";
import {test} from "node:test";
import {parseRetryAfter} from "../../../../client/rpc/retryAfter.ts";

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
