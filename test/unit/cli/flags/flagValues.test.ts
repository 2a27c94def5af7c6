import assert from "node:assert/strict";
import {test} from "node:test";
import {parseHistory} from "../../../../cli/flags/flagValues.ts";

test("a history is all, finalizations, or a number of blocks", () => {
  assert.deepEqual(parseHistory("all"), {kind: "all"});
  assert.deepEqual(parseHistory("finalizations"), {kind: "finalizations"});
  assert.deepEqual(parseHistory("1000"), {kind: "newest", blocks: 1000});
});

test("no history keeps less than one block, and none has other words", () => {
  for (const text of ["0", "-1", "1.5", "", "none", "0x10", "1000000000000000"])
    assert.throws(() => parseHistory(text), /Expected all, finalizations, or a number of blocks/);
});
