/** What a memo of pairs gives is what it would have hashed, whatever the pairs are and whoever changes a digest. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {type HashPair, PairMemo} from "../../../../client/hash/pairMemo.ts";

const plainHash: HashPair = (left, right) =>
  new Uint8Array(createHash("sha256").update(left).update(right).digest());

/** 32 bytes that all pairs below share, so that they meet in the same entry, but for the byte at `place`. */
function nodeWith(place: number, byte: number): Uint8Array {
  const node = new Uint8Array(32);
  node[place] = byte;
  return node;
}

test("pairs that differ in any single byte have digests of their own, also where they share an entry", () => {
  const memo = new PairMemo(plainHash);
  const zero = new Uint8Array(32);
  assert.deepEqual(memo.hash(zero, zero), plainHash(zero, zero));
  for (let place = 0; place < 32; place++)
    for (const byte of [1, 0x20, 0x80]) {
      const node = nodeWith(place, byte);
      for (let turn = 0; turn < 2; turn++) {
        assert.deepEqual(memo.hash(node, zero), plainHash(node, zero));
        assert.deepEqual(memo.hash(zero, node), plainHash(zero, node));
        assert.deepEqual(memo.hash(zero, zero), plainHash(zero, zero));
      }
    }
});

test("whoever changes a digest or a node does not change what is remembered", () => {
  const memo = new PairMemo(plainHash);
  const [a, b] = [nodeWith(0, 1), nodeWith(0, 2)];
  const expected = plainHash(a, b);
  memo.hash(a, b).fill(0);
  memo.hash(a, b).fill(0);
  assert.deepEqual(memo.hash(a, b), expected);
  a.fill(3);
  assert.deepEqual(memo.hash(a, b), plainHash(a, b));
  assert.deepEqual(memo.hash(nodeWith(0, 1), b), expected);
});

test("nothing is remembered of a hash that throws", () => {
  let calls = 0;
  const memo = new PairMemo((left, right) => {
    calls++;
    if (left[0] === 9) throw new Error("no digest");
    return plainHash(left, right);
  });
  const [bad, good] = [nodeWith(0, 9), nodeWith(0, 1)];
  for (let turn = 0; turn < 2; turn++) assert.throws(() => memo.hash(bad, good), /no digest/);
  assert.equal(calls, 2);
});

test("a pair in one array has the digest of its two nodes, remembered or not", () => {
  let calls = 0;
  const memo = new PairMemo((left, right) => {
    calls++;
    return plainHash(left, right);
  });
  const [a, b, c] = [nodeWith(0, 1), nodeWith(0, 2), nodeWith(0, 3)];
  for (const [left, right] of [
    [a, b],
    [b, c],
    [b, a],
  ] as const)
    for (let turn = 0; turn < 2; turn++) {
      assert.deepEqual(memo.hashJoined(Buffer.concat([left, right])), plainHash(left, right));
      assert.deepEqual(memo.hash(left, right), plainHash(left, right));
    }
  assert.equal(calls, 3);
});
