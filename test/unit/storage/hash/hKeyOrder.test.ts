/** Keys in order: what sorts and compares them agrees with Buffer.compare. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {compareWordAt, inHKeyOrder, sortByHKey} from "../../../../storage/hash/hKeyOrder.ts";

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

test("70 000 keys, some of them equal and most with one of two first bytes, come in order with their positions", () => {
  const keys = Array.from({length: 70_000}, (_, i) => {
    const key = Buffer.alloc(32, i % 3);
    if (i % 3 === 2) key.writeUInt8((i * 7) % 256);
    key.writeUInt32BE(((i * 40_503) % 69_000) >>> 0, 28);
    return key;
  });
  const found = [...inHKeyOrder(keys.length, position => keys[position] as Buffer)];
  const expected = keys.map((hKey, position) => ({position, hKey}));
  expected.sort((a, b) => Buffer.compare(a.hKey, b.hKey) || a.position - b.position);
  assert.ok(expected.some(({hKey}, i) => expected[i + 1]?.hKey.equals(hKey) === true));
  assert.ok(
    found.length === expected.length &&
      found.every(
        ({position, hKey}, i) => position === expected[i]?.position && hKey.equals(expected[i].hKey),
      ),
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
