import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {AnswerText, TRANSFER_BYTES} from "../../../../workers/prove/answerText.ts";

/** Appends `size` bytes in several ways. */
function append(text: AnswerText, size: number): string {
  const raw = "r".repeat(size >> 1);
  text.reserve(raw.length);
  text.raw(Buffer.from(raw));
  const rest = "t".repeat(size - raw.length);
  text.text(rest);
  return raw + rest;
}

const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(40_000)), {maxLength: 10});
/** undefined: the task brings none. */
const memoryBytes = fc.option(fc.oneof(fc.constant(0), fc.nat(200_000), fc.constant(3 << 20)), {
  nil: undefined,
});

test("task by task, the text is what was written, and memory that was brought goes back with it", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(memoryBytes, sizes), {maxLength: 6}), tasks => {
      const text = new AnswerText();
      for (const [bytes, parts] of tasks) {
        const memory = bytes === undefined ? undefined : new ArrayBuffer(bytes);
        text.clear(memory);
        const expected = parts.map(size => append(text, size)).join("");
        const taken = text.take();
        assert.equal(Buffer.from(taken.text).toString(), expected);
        if (taken.text.buffer === memory) assert.equal(taken.unused, undefined);
        else {
          assert.equal(taken.unused, memory);
          assert.equal(taken.text.buffer.byteLength, expected.length, "a copy of its own size");
        }
      }
    }),
  );
});

test("a text that fits lies in the memory brought, a small or too large one does not", () => {
  const table: [size: number, isInIt: boolean][] = [
    [TRANSFER_BYTES - 1, false],
    [TRANSFER_BYTES, true],
    [99_999, true],
    [3_000_000, false],
    [60_000, true],
  ];
  const text = new AnswerText();
  for (const [size, isInIt] of table) {
    const memory = new ArrayBuffer(100_000);
    text.clear(memory);
    text.reserve(size);
    text.raw(new Uint8Array(size));
    assert.equal(text.take().text.buffer === memory, isInIt, `${size} bytes`);
  }
});

test("memory that was handed back is not written into any more", () => {
  const text = new AnswerText();
  const memory = new ArrayBuffer(100_000);
  text.clear(memory);
  append(text, 50_000);
  const before = Buffer.from(text.take().text);
  append(text, 10);
  text.clear();
  append(text, 60_000);
  assert.ok(before.equals(new Uint8Array(memory, 0, 50_000)));
});
