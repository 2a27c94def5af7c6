import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Piece, TaskText} from "../../../../server/request/taskText.ts";
import {AnswerMemories, type AnswerMemory, KEPT_MEMORIES} from "../../../../workers/messages/answerMemory.ts";

const BYTES = 4000;
const USED = 3000;
/** Waits in its memory: at least a quarter of it. */
const LARGE = BYTES / 4;
const CONTENT = Buffer.from(Uint8Array.from({length: USED}, (_, i) => i * 7 + (i >> 8)));
const memories = new AnswerMemories(1, BYTES);
const COUNT = memories.spares.length;

function createText(): TaskText {
  const memory = memories.take() as AnswerMemory;
  memory.bytes.set(CONTENT);
  return new TaskText(memory.bytes, memory);
}

test("the memory is given back at the last use of it, and pieces keep their bytes until they are released", () => {
  const piece = fc.record({
    from: fc.nat(USED),
    length: fc.nat(USED),
    /** Waits at some time before its release. */
    waits: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(piece, {maxLength: 8}), fc.infiniteStream(fc.nat()), (described, order) => {
      const text = createText();
      const held = described.map(({from, length, waits}) => {
        const to = Math.min(USED, from + length);
        return {piece: text.cut(from, to), expected: CONTENT.subarray(from, to), waits};
      });
      text.release();
      for (const {piece, waits} of held) if (waits) piece.wait();
      const keeps = ({piece, waits}: (typeof held)[number]) => !waits || piece.length >= LARGE;
      while (held.length > 0) {
        assert.equal(memories.spares.length, held.some(keeps) ? COUNT - 1 : COUNT);
        for (const {piece, expected} of held) assert.ok(expected.equals(piece.bytes));
        const [one] = held.splice((order.next().value as number) % held.length, 1) as [(typeof held)[number]];
        one.piece.release();
        one.piece.release();
        assert.equal(one.piece.length, 0);
      }
      assert.equal(memories.spares.length, COUNT);
    }),
  );
});

test("only so many memories wait for readers: a further large piece is copied out, and its memory comes back", () => {
  const waiting = Array.from({length: KEPT_MEMORIES + 1}, () => {
    const text = createText();
    const piece = text.cut(0, LARGE);
    piece.wait();
    text.release();
    return piece;
  });
  assert.equal(memories.spares.length, COUNT - KEPT_MEMORIES);
  for (const memory of memories.spares) memory.bytes.fill(0);
  for (const piece of waiting) {
    assert.ok(CONTENT.subarray(0, LARGE).equals(piece.bytes));
    piece.release();
  }
  assert.equal(memories.spares.length, COUNT);
  const text = createText();
  const again = text.cut(0, LARGE);
  again.wait();
  text.release();
  assert.equal(memories.spares.length, COUNT - 1, "one may wait again");
  again.release();
});

test("a small piece that waits does not see what is written into the memory next", () => {
  const text = createText();
  const small = text.cut(10, 20);
  small.shorten(1);
  small.wait();
  text.release();
  const memory = memories.take() as AnswerMemory;
  memory.bytes.fill(0);
  assert.ok(CONTENT.subarray(10, 19).equals(small.bytes));
  memory.release();
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

test("bytes may be kept after the release if the piece has its own, and they are a good part of their memory", () => {
  const text = createText();
  assert.equal(text.cut(0, LARGE).isStable(LARGE), false);
  text.release();
  const own = new Piece(new Uint8Array(BYTES));
  assert.equal(own.isStable(LARGE), true);
  assert.equal(own.isStable(LARGE - 1), false);
});
