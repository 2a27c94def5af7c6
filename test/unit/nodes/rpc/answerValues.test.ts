import assert from "node:assert/strict";
import {test} from "node:test";
import {parseFixedBytes, parseNumber} from "../../../../nodes/rpc/answerValues.ts";

test("a wrong value is named without being written out, however deep or long it is", () => {
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const rule = "a number (0x and 1 to 13 hex digits)";
  for (const [value, shown] of [
    [deep, "an array"],
    [{}, "an object"],
    [null, "null"],
    ["x".repeat(100), `"${"x".repeat(79)}..."`],
  ] as const)
    assert.throws(() => parseNumber(value, "the block"), {
      name: "NodeFailure",
      message: `the block: expected ${rule}, got ${shown}`,
    });
  assert.throws(() => parseFixedBytes(deep, "the root", 32), {
    name: "NodeFailure",
    message: /^the root: expected 32 bytes .*, got an array$/,
  });
});
