/** Keys in order: what sorts and compares them agrees with Buffer.compare. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {compareWordAt, sortByHKey} from "../../../../storage/hash/hKeyOrder.ts";

const hKey = fc.uint8Array({minLength: 32, maxLength: 32});
/** Many of them share their first 6 bytes, which are compared as a number. */
const similar = fc.tuple(fc.nat(1), hKey).map(([first, rest]) => {
  const key = Buffer.from(rest);
  key.fill(first === 0 ? 0x00 : 0xff, 0, 6);
  return key;
});

test("positions are sorted by the keys' unsigned bytes, equal keys stay in their order", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(hKey, similar), {maxLength: 40}), keys => {
      const order = [...sortByHKey(Buffer.concat(keys))];
      const expected = keys.map((_, i) => i);
      expected.sort((a, b) => Buffer.compare(keys[a] as Uint8Array, keys[b] as Uint8Array) || a - b);
      assert.deepEqual(order, expected);
    }),
  );
});

test("a key is compared with the bytes at an offset, to the last byte", () => {
  fc.assert(
    fc.property(hKey, fc.oneof(hKey, fc.constant(undefined)), fc.nat(9), (key, other, offset) => {
      const at = other ?? key;
      const bytes = Buffer.concat([Buffer.alloc(offset, 0x80), at, Buffer.alloc(3)]);
      assert.equal(Math.sign(compareWordAt(bytes, offset, key)), Buffer.compare(at, key));
    }),
  );
  const [low, high] = [Buffer.alloc(32), Buffer.alloc(32)];
  high[31] = 1;
  assert.ok(compareWordAt(low, 0, high) < 0 && compareWordAt(high, 0, low) > 0);
});
