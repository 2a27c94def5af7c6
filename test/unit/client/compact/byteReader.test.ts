/** What proof bytes consist of, as they are read and written. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {ByteReader} from "../../../../client/compact/byteReader.ts";
import {readWord} from "../../../../client/hash/hashSuites.ts";

test("a number has at most 32 bytes, and does not begin with a zero byte", () => {
  const read = (...bytes: number[]) => readWord(new ByteReader(Uint8Array.from(bytes)).word());
  assert.equal(read(0), 0n);
  assert.equal(read(0, 0), 0n, "what follows is not looked at");
  assert.equal(read(1, 1), 1n);
  assert.equal(read(32, ...new Array<number>(32).fill(255)), 2n ** 256n - 1n);
  assert.throws(() => read(33, ...new Array<number>(33).fill(1)), {
    message: "byte 1: expected a number of at most 32 bytes, got 33",
  });
  for (const bytes of [
    [1, 0],
    [2, 0, 1],
  ])
    assert.throws(() => read(...bytes), {message: "byte 1: a number begins with a zero byte"});
});

test("bytes that are not there are not read, and none may be left over", () => {
  const reader = new ByteReader(Uint8Array.of(1, 2));
  assert.throws(() => reader.take(3), {code: "PROOF_REFUSED", message: "byte 0: expected 3 bytes, got 2"});
  assert.equal(reader.u8(), 1);
  assert.throws(() => reader.u16(), {message: "byte 1: expected 2 bytes, got 1"});
  assert.throws(() => reader.end(), {message: "byte 1: expected the end of the proof, got 1 more byte"});
  assert.deepEqual(reader.take(1), Uint8Array.of(2));
  reader.end();
});
