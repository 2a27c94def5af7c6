import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {leafKeysKey, nameOfKey, pageOfLeafKeys} from "../../../../storage/record/layout.ts";
import {ACCOUNTS_OWNER, decodeLeafKeys, encodeLeafKeys} from "../../../../storage/tree/leafKeys.ts";

const bytes = (minLength: number, maxLength: number) => fc.uint8Array({minLength, maxLength});
const pageOf = (key: fc.Arbitrary<Uint8Array>) =>
  fc.array(fc.option(key, {nil: undefined}), {minLength: 0, maxLength: 8});

test("keys of a leaf page, known or not, come back as they were", () => {
  const owners = fc.integer({min: 1, max: 2 ** 40 - 1});
  const pages = fc.oneof(
    pageOf(bytes(20, 20)).map(keys => ({owner: ACCOUNTS_OWNER, keys})),
    fc.record({owner: owners, keys: pageOf(bytes(0, 32))}),
  );
  fc.assert(
    fc.property(pages, fc.nat(2 ** 37), ({owner, keys}, page) => {
      const decoded = decodeLeafKeys(owner, page, encodeLeafKeys(owner, keys));
      assert.equal(decoded.length, 8);
      for (let position = 0; position < 8; position++) {
        const [one, other] = [decoded[position], keys[position]];
        assert.deepEqual(one && Uint8Array.from(one), other);
      }
      assert.deepEqual(pageOfLeafKeys(leafKeysKey(owner, page)), {owner, page});
    }),
  );
});

test("bytes that are no keys of a leaf page are damage, by name", () => {
  const damages: readonly [owner: number, body: string, message: RegExp][] = [
    [0, "", /^keys of leaf page 2 of the account tree: expected at least 1 bytes, got 0$/],
    [0, "01aabb", /expected at least 21 bytes, got 3$/],
    [0, "0000", /expected 1 bytes, got 2$/],
    [7, "0121", /^keys of leaf page 2 of the slots of account leaf 7: a slot of 33 bytes$/],
    [7, "0102aa", /expected at least 4 bytes, got 3$/],
  ];
  for (const [owner, body, message] of damages)
    assert.throws(() => decodeLeafKeys(owner, 2, Buffer.from(body, "hex")), {
      code: "RECORD_DAMAGED",
      message,
    });
  assert.equal(nameOfKey(leafKeysKey(7, 2)), "keys of leaf page 2 of the slots of account leaf 7");
});
