import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {AnswerText} from "../../../../workers/prove/answerText.ts";

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
/** undefined: none is lent. */
const memoryBytes = fc.option(fc.oneof(fc.constant(0), fc.nat(200_000), fc.constant(3 << 20)), {
  nil: undefined,
});

test("task by task, the text is what was written, in the lent memory if it fits, or else in a copy of its own size", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(memoryBytes, sizes), {maxLength: 6}), tasks => {
      const text = new AnswerText();
      for (const [bytes, parts] of tasks) {
        const memory = bytes === undefined ? undefined : Buffer.from(new SharedArrayBuffer(bytes));
        text.clear();
        const expected = parts.map(size => append(text, size)).join("");
        const taken = text.take(memory);
        assert.equal(Buffer.from(taken).toString("utf8", 0, expected.length), expected);
        assert.equal(taken === memory, memory !== undefined && expected.length <= memory.length);
        if (taken !== memory) assert.equal(taken.buffer.byteLength, expected.length);
      }
    }),
  );
});

test("digits take the place of bytes, with a break for each 16 KiB of them", () => {
  const text = new AnswerText();
  for (const size of [0, 1, 16_383, 16_384, 16_385, 700_000]) {
    const bytes = Buffer.from(Array.from({length: size}, (_, at) => (at * 31 + (at >> 8)) & 0xff));
    let checks = 0;
    text.clear();
    const before = append(text, 101);
    text.reserve(size);
    text.raw(bytes);
    text.hexFrom(before.length, {check: () => checks++});
    const after = append(text, 3);
    assert.ok(Buffer.from(text.take()).equals(Buffer.from(before + bytes.toString("hex") + after)));
    assert.equal(checks, Math.ceil(size / 16_384));
  }
});
