import assert from "node:assert/strict";
import {test} from "node:test";
import {requireBytes, requireNumber} from "../../../../sync/finality/answerValues.ts";

test("a wrong value is named without being written out, however deep or long it is", () => {
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const numberRule = "expected 0x and at most 13 hex digits";
  for (const [value, shown] of [
    [deep, "an array"],
    [{}, "an object"],
    [null, "null"],
    ["x".repeat(100), `"${"x".repeat(47)}...`],
  ] as const)
    assert.throws(() => requireNumber(value, "the block"), {
      name: "NodeFailure",
      message: `the block is ${shown}: ${numberRule}`,
    });
  assert.throws(() => requireBytes(deep, 32, "the root"), {
    name: "NodeFailure",
    message: /^the root is an array: /,
  });
});
