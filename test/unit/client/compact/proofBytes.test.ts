/** What fits into proof bytes: more is refused, and never cut. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {ByteReader} from "../../../../client/compact/byteReader.ts";
import {encodeProofBytes} from "../../../../client/compact/proofBytes.ts";
import type {PartLeaf} from "../../../../client/compact/treePart.ts";
import {readWord, sha256Suite} from "../../../../client/hash/hashSuites.ts";

const LEAF: PartLeaf = {leafIndex: 0, prev: 0, next: 1, content: {role: "end"}, bitmap: 0, siblings: []};

function encode(nextFreeNode: number, leaves: number): Uint8Array {
  const part = {nextFreeNode, keys: [], leaves: new Array<PartLeaf>(leaves).fill(LEAF)};
  return encodeProofBytes(sha256Suite, "slots", part);
}

test("nextFreeNode has 40 bits", () => {
  assert.deepEqual(encode(2 ** 40 - 1, 0), Uint8Array.of(2, 255, 255, 255, 255, 255, 0, 0));
  assert.throws(() => encode(2 ** 40, 0), {
    code: "PROOF_REFUSED",
    message: `nextFreeNode: expected less than 2^40, got ${2 ** 40}`,
  });
});

test("a part has at most 32 768 leaves", () => {
  assert.equal(encode(2, 32_768).length, 8 + 20 * 32_768);
  assert.throws(() => encode(2, 32_769), {message: "leaves: expected at most 32768 of one tree, got 32769"});
});

test("a number has up to 32 bytes", () => {
  const read = (...bytes: number[]) => readWord(new ByteReader(Uint8Array.from(bytes)).word());
  assert.equal(read(0, 0), 0n, "what follows is not looked at");
  assert.equal(read(32, ...new Array<number>(32).fill(255)), 2n ** 256n - 1n);
});
