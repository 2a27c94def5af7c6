/** How many blocks are asked for at once. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {LogRange} from "../../../../nodes/finality/logRange.ts";

test("a range doubles while it is answered, up to 100 000 blocks", () => {
  const range = new LogRange();
  const seen: number[] = [];
  for (let at = 0; at < 9; at++) {
    seen.push(range.blocks);
    range.noteAnswer();
  }
  assert.deepEqual(seen, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000]);
});

test("a refused range is halved down to one block, and grows again only after 16 answers", () => {
  const range = new LogRange();
  assert.equal(range.noteRefusal(1_000), true);
  assert.equal(range.blocks, 500);
  // The range that was refused may have been shorter, near the newest block.
  assert.equal(range.noteRefusal(3), true);
  assert.equal(range.blocks, 1);
  assert.equal(range.noteRefusal(1), false);
  for (let at = 0; at < 16; at++) {
    assert.equal(range.blocks, 1);
    range.noteAnswer();
  }
  range.noteAnswer();
  assert.equal(range.blocks, 2);
});
