import assert from "node:assert/strict";
import {test} from "node:test";
import {MAX_RETRY_AFTER_MS, parseRetryAfter} from "../../../../nodes/rpc/endpoint.ts";

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

test("seconds and dates are waits, up to a bound", () => {
  const table: [unknown, number | undefined][] = [
    ["0", 0],
    ["2", 2000],
    [" 7 ", 7000],
    ["999999999999", MAX_RETRY_AFTER_MS],
    ["9".repeat(400), MAX_RETRY_AFTER_MS],
    ["Fri, 02 Jan 2026 03:04:15 GMT", 10_000],
    ["Fri, 02 Jan 2026 03:04:00 GMT", 0],
    ["Fri, 02 Jan 2099 03:04:00 GMT", MAX_RETRY_AFTER_MS],
  ];
  for (const [value, expected] of table) assert.equal(parseRetryAfter(value, NOW_MS), expected);
});

test("anything else asks for no wait", () => {
  for (const value of [undefined, "", "-1", "1.5", "soon", "2026-01-02", "Fri, 99 Jan", ["1", "2"]])
    assert.equal(parseRetryAfter(value, NOW_MS), undefined);
});
