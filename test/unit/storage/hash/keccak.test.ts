import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import fc from "fast-check";
import {keccak256} from "../../../../storage/hash/keccak.ts";

/** About the size of the module's memory, which takes whole blocks of 136 bytes, and more. */
const LONG = [...Array.from({length: 24}, (_, i) => 136 * (1904 + i)), 256 * 1024, 600_001];

test("hashes every length as @noble/hashes does", () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 1000}), message => {
      assert.deepEqual(keccak256(message), keccak_256(message));
    }),
    {numRuns: 500},
  );
  for (const bytes of [0, 135, 136, 137, 271, 272, ...LONG]) {
    const message = Uint8Array.from({length: bytes}, (_, at) => at * 7);
    assert.deepEqual(keccak256(message), keccak_256(message), `${bytes} bytes`);
  }
});

test("a hash is not overwritten by the next one", () => {
  const first = keccak256(Uint8Array.of(1));
  keccak256(Uint8Array.of(2));
  assert.deepEqual(first, keccak_256(Uint8Array.of(1)));
});
