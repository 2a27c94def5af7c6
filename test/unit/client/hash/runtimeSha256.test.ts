import assert from "node:assert/strict";
import {createHash, hash, randomBytes} from "node:crypto";
import {test} from "node:test";
import {sha256} from "@noble/hashes/sha2.js";
import {chooseSha256} from "../../../../client/hash/runtimeSha256.ts";

test("in Node the digest is that of node:crypto, and not made by @noble/hashes", () => {
  const digest = chooseSha256();
  // Node 20 before 20.12 has none.
  assert.equal(digest === sha256, hash === undefined);
  for (const length of [0, 1, 20, 32, 64, 128, 192, 1000]) {
    const bytes = new Uint8Array(randomBytes(length));
    const made = digest(bytes);
    assert.equal(made.constructor, Uint8Array);
    assert.deepEqual(made, new Uint8Array(createHash("sha256").update(bytes).digest()));
  }
});

test("a runtime without a hash, or with one that gives something else, has that of @noble/hashes", () => {
  const other = () => "x".repeat(32);
  const failing = () => {
    throw new TypeError("no such encoding");
  };
  for (const crypto of [{}, {hash: other}, {hash: failing}, {hash: () => undefined as unknown as string}])
    assert.equal(chooseSha256(crypto), sha256);
});
