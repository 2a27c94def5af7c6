/** The suite sha256: the layout of a leaf's opening. That its hashes are the verifier's, property/everyBlock shows. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import fc from "fast-check";
import {word} from "../../../../client/hash/hashSuites.ts";
import {sha256Into} from "../../../../storage/hash/sha256.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {SUITE_NAMES} from "../../../../storage/hash/suiteNames.ts";
import {findSuite} from "../../../../storage/hash/suites.ts";

const suite = sha256Suite;
const bytes32 = fc.uint8Array({minLength: 32, maxLength: 32});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test("a leaf opening is prev, next, hKey and hVal, 32 bytes each, also of the highest indexes", () => {
  const index = fc.oneof(fc.nat(), fc.constantFrom(0, 0xffffff, 0x1000000, 2 ** 40 - 1, 2 ** 48 - 1));
  fc.assert(
    fc.property(index, index, bytes32, bytes32, fc.nat(64), (prev, next, hKey, hVal, offset) => {
      const out = Buffer.alloc(offset + suite.leafOpeningBytes + 1, 0xee);
      suite.encodeLeafOpeningInto(out, offset, prev, next, hKey, hVal);
      const expected = Buffer.concat([word(prev), word(next), hKey, hVal]);
      assert.equal(hex(out.subarray(offset, -1)), hex(expected));
      assert.ok(out.subarray(0, offset).every(byte => byte === 0xee) && out.at(-1) === 0xee);
    }),
  );
});

test("messages hashed at once have the digests of each alone, however many and however long", () => {
  const blocks = fc.integer({min: 1, max: 4});
  // More than the module's memory has room for.
  const count = fc.oneof(fc.integer({min: 0, max: 9}), fc.integer({min: 4000, max: 4100}));
  fc.assert(
    fc.property(blocks, count, fc.nat(), (blocks, count, seed) => {
      const bytes = 64 * blocks;
      const messages = Buffer.alloc(count * bytes);
      for (let at = 0; at < messages.length; at++) messages[at] = (at * (seed | 1)) >> 7;
      const digests = Buffer.alloc((count + 1) * 32, 0xee);
      sha256Into(messages, count, bytes, digests);
      const expected = Array.from({length: count}, (_, i) =>
        createHash("sha256")
          .update(messages.subarray(i * bytes, (i + 1) * bytes))
          .digest(),
      );
      assert.ok(digests.equals(Buffer.concat([...expected, Buffer.alloc(32, 0xee)])));
    }),
    {numRuns: 40},
  );
});

test("messages that do not end with a block are refused, and so are those that the memory has no room for", () => {
  for (const bytes of [1, 63, 65, 2 ** 30])
    assert.throws(() => sha256Into(new Uint8Array(0), 1, bytes, new Uint8Array(32)), TypeError, `${bytes}`);
});

test("suites are found by the names that the registry lists, and no other", () => {
  for (const name of SUITE_NAMES) assert.equal(findSuite(name)?.trees?.name, name);
  assert.equal(findSuite("toString"), undefined);
  assert.equal(new Set(SUITE_NAMES).size, SUITE_NAMES.length);
  for (const name of ["", "SHA256", "sha512", "constructor"]) assert.equal(findSuite(name), undefined);
});
