import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {encodeIdText} from "../../../../server/rpc/idEscapes.ts";

const unit = fc.oneof(
  fc.constantFrom('"', "\\", "\u0000", "\u007f", "\ud800", "\udfff", "\ud83d\ude00", "\u2028", "\u00e9"),
  fc.integer({min: 0, max: 0xffff}).map(code => String.fromCharCode(code)),
);

test("the text of an id is JSON of the same id, also if the id has half a character", () => {
  fc.assert(
    fc.property(fc.array(unit, {maxLength: 300}), units => {
      const id = units.join("");
      const text = encodeIdText(id);
      assert.equal(JSON.parse(text), id);
      assert.doesNotMatch(text, /\p{Surrogate}/u, "only whole characters can be sent");
    }),
  );
});

test("whole characters are written as they are", () => {
  const id = `${"\u00e9\u{1f600}".repeat(30)}"\\\n`;
  assert.equal(encodeIdText(id), JSON.stringify(id));
});
