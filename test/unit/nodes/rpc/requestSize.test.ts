/** How much is asked for at once. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {RequestSize} from "../../../../nodes/rpc/requestSize.ts";

test("a size doubles while it is answered, up to the largest one", () => {
  const range = new RequestSize(1_000, 100_000, 16);
  const seen: number[] = [];
  for (let at = 0; at < 9; at++) {
    seen.push(range.value);
    range.noteAnswer();
  }
  assert.deepEqual(seen, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000]);
});

test("a refused size is halved down to 1, and grows again only after 16 answers", () => {
  const range = new RequestSize(1_000, 100_000, 16);
  assert.equal(range.noteRefusal(1_000), true);
  assert.equal(range.value, 500);
  // The request that was refused may have been smaller.
  assert.equal(range.noteRefusal(3), true);
  assert.equal(range.value, 1);
  assert.equal(range.noteRefusal(1), false);
  for (let at = 0; at < 16; at++) {
    assert.equal(range.value, 1);
    range.noteAnswer();
  }
  range.noteAnswer();
  assert.equal(range.value, 2);
});

test("requests of one size that are refused together halve it once", () => {
  const batch = new RequestSize(100, 100, 64);
  for (let at = 0; at < 3; at++) batch.noteRefusal(4);
  assert.equal(batch.value, 2);
});
