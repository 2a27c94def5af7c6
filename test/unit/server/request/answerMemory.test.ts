import assert from "node:assert/strict";
import {test} from "node:test";
import {AnswerMemory} from "../../../../server/request/answerMemory.ts";

const BYTES = 1000;

test("memory that was put back is taken again before any is allocated", () => {
  const memory = new AnswerMemory(BYTES, 2);
  const first = memory.take();
  const second = memory.take();
  assert.notEqual(first, second);
  assert.equal(first.byteLength, BYTES);
  memory.put(first);
  assert.equal(memory.take(), first);
  assert.equal(memory.allocated, 2);
  assert.equal(memory.spare, 0);
});

test("memory beyond the limit, or of another size, is freed at once", () => {
  const memory = new AnswerMemory(BYTES, 2);
  const taken = [memory.take(), memory.take(), memory.take()];
  for (const one of taken) memory.put(one);
  const other = new ArrayBuffer(BYTES + 1);
  memory.put(other);
  assert.equal(memory.spare, 2);
  assert.deepEqual(
    [...taken, other].map(({byteLength}) => byteLength),
    [BYTES, BYTES, 0, 0],
  );
});
