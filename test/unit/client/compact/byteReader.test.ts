/** What proof bytes consist of, as they are read and written. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {ByteReader} from "../../../../client/compact/byteReader.ts";
import {ByteWriter} from "../../../../client/compact/byteWriter.ts";

test("what the writer writes, the reader reads", () => {
  const numbers = [0n, 1n, 255n, 256n, 2n ** 248n - 1n, 2n ** 248n, 2n ** 256n - 1n];
  const writer = new ByteWriter();
  writer.u8(255);
  writer.u16(2 ** 16 - 1);
  writer.u40(2 ** 40 - 1);
  writer.u40(2 ** 32);
  for (const n of numbers) writer.number(n);
  writer.raw(Uint8Array.of(7, 8));
  const reader = new ByteReader(writer.finish());
  assert.deepEqual(
    [reader.u8(), reader.u16(), reader.u40(), reader.u40()],
    [255, 2 ** 16 - 1, 2 ** 40 - 1, 2 ** 32],
  );
  for (const n of numbers) assert.equal(reader.number(), n);
  assert.equal(reader.place(), `byte ${13 + 7 + 0 + 1 + 1 + 2 + 31 + 32 + 32}`);
  assert.deepEqual(reader.take(2), Uint8Array.of(7, 8));
  reader.end();
});

test("a number has at most 32 bytes, and does not begin with a zero byte", () => {
  const read = (...bytes: number[]) => new ByteReader(Uint8Array.from(bytes)).number();
  assert.equal(read(0), 0n);
  assert.equal(read(0, 0), 0n, "what follows is not looked at");
  assert.equal(read(1, 1), 1n);
  assert.equal(read(32, ...new Array<number>(32).fill(255)), 2n ** 256n - 1n);
  assert.throws(() => read(33, ...new Array<number>(33).fill(1)), {message: "byte 1: a number of 33 bytes"});
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
  assert.throws(() => reader.end(), {message: "byte 1: 1 bytes after the proof"});
  assert.deepEqual(reader.take(1), Uint8Array.of(2));
  reader.end();
});
