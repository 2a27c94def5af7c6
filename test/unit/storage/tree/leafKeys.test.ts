import assert from "node:assert/strict";
import {test} from "node:test";
import {leafKeysKey, nameOfKey} from "../../../../storage/record/layout.ts";
import {decodeLeafKeys} from "../../../../storage/tree/leafKeys.ts";

test("bytes that are no keys of a leaf page are damage, by name", () => {
  const damages: readonly [owner: number, body: string, message: RegExp][] = [
    [0, "", /^keys of leaf page 2 of the account tree: expected at least 1 byte, got 0$/],
    [0, "01aabb", /expected at least 21 bytes, got 3$/],
    [0, "0000", /expected 1 byte, got 2$/],
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
