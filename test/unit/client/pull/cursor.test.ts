import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeCursor, encodeCursor} from "../../../../client/pull/cursor.ts";

test("a cursor reads back as the place that was written", () => {
  for (const place of [
    {block: 0n, entry: 0, key: 0},
    {block: 2n ** 48n, entry: 123_456_789, key: 4096},
  ])
    assert.deepEqual(decodeCursor(encodeCursor(place)), place);
});

test("text that is no cursor is a TypeError", () => {
  for (const text of ["", "1.2.3", "2.1.2.3", "1.01.2.3", "1.1.2.-3", "1.1.2.3 ", "1.1.2.3.4", "1.0x1.2.3"])
    assert.throws(() => decodeCursor(text), TypeError, text);
});
