/** What fits into proof bytes: more is refused, and never cut. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeProofBytes} from "../../../../client/compact/proofBytes.ts";
import type {PartLeaf} from "../../../../client/compact/treePart.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";

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
