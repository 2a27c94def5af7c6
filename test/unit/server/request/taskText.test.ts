import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {AnswerMemory} from "../../../../server/request/answerMemory.ts";
import {Piece, TaskText} from "../../../../server/request/taskText.ts";

const BYTES = 400;

function createText(): {memory: AnswerMemory; text: TaskText; bytes: Uint8Array} {
  const memory = new AnswerMemory(BYTES, 1);
  const bytes = new Uint8Array(memory.take(), 0, 300);
  for (let i = 0; i < bytes.length; i++) bytes[i] = i * 7;
  return {memory, text: new TaskText(bytes, memory), bytes};
}

test("the memory is given back at the last use of it, and pieces keep their bytes until they are released", () => {
  const piece = fc.record({
    from: fc.nat(300),
    length: fc.nat(300),
    /** Waits at some time before its release. */
    waits: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(piece, {maxLength: 8}), fc.infiniteStream(fc.nat()), (described, order) => {
      const {memory, text, bytes} = createText();
      const held = described.map(({from, length, waits}) => {
        const to = Math.min(300, from + length);
        return {piece: text.cut(from, to), expected: Buffer.from(bytes.slice(from, to)), waits};
      });
      text.release();
      for (const {piece, waits} of held) if (waits) piece.wait();
      const keeps = ({piece, waits}: (typeof held)[number]) => !waits || 4 * piece.length >= BYTES;
      while (held.length > 0) {
        assert.equal(memory.spare, held.some(keeps) ? 0 : 1);
        for (const {piece, expected} of held) assert.ok(expected.equals(piece.bytes));
        const [one] = held.splice((order.next().value as number) % held.length, 1) as [(typeof held)[number]];
        one.piece.release();
        one.piece.release();
        assert.equal(one.piece.length, 0);
      }
      assert.equal(memory.spare, 1);
    }),
  );
});

test("a text of which nothing was cut gives its memory back when its maker is done", () => {
  const {memory, text} = createText();
  text.release();
  assert.equal(memory.spare, 1);
});

test("a small piece that waits does not see what is written into the memory next", () => {
  const {memory, text, bytes} = createText();
  const small = text.cut(10, 20);
  const expected = Buffer.from(bytes.slice(10, 19));
  small.shorten(1);
  small.wait();
  text.release();
  new Uint8Array(memory.take()).fill(0);
  assert.ok(expected.equals(small.bytes));
});

test("pieces of their own bytes, and of memory that nobody takes back, are released like others", () => {
  const own = new Piece(Buffer.from("abc"));
  own.wait();
  own.shorten(1);
  assert.equal(Buffer.from(own.bytes).toString(), "ab");
  own.release();
  assert.equal(own.length, 0);
  const text = new TaskText(Buffer.from("abc"));
  const piece = text.cut(1, 3);
  text.release();
  assert.equal(Buffer.from(piece.bytes).toString(), "bc");
  piece.release();
});
