import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {findFieldText, findIdTexts} from "../../../../server/rpc/idText.ts";

function find(text: string) {
  return findIdTexts(Buffer.from(text));
}

test("the id of a single request is found as it was written", () => {
  for (const id of ["1.0", "-0", "1e400", "9007199254740993", "1E+2", '"x"', "null"]) {
    assert.deepEqual(find(` { "a" : [1,{"id":7}] , "id" : ${id} , "b" : "id" } `), [id]);
    assert.deepEqual(find(`{"id":${id}}`), [id]);
  }
});

test("each element of a batch has its own, and what is no object has none", () => {
  assert.deepEqual(find('[{"id":1.0},2.50,"id",[{"id":3}],{"x":{"id":4}},{"id":5e0}]'), [
    "1.0",
    undefined,
    undefined,
    undefined,
    undefined,
    "5e0",
  ]);
  assert.deepEqual(find(" [ ] "), []);
});

test("the last of several ids counts, and an escaped name is a name, as in JSON.parse", () => {
  assert.deepEqual(find('{"id":1.0,"id":2.0}'), ["2.0"]);
  assert.deepEqual(find('{"id":1.0,"\\u0069d":3.0}'), ["3.0"]);
  assert.deepEqual(find('{"\\"id":1.0,"__proto__":{"id":2.0}}'), [undefined]);
});

test("a name is told from those that are nearly it, with and without escapes", () => {
  const escapes = ["i", "d", "\\u0069", "\\u0064", "\\u00c9", "\\u1069", "\\n", "\\\\", "x", "\u00e9"];
  const name = fc.array(fc.constantFrom(...escapes), {maxLength: 3}).map(parts => `"${parts.join("")}"`);
  fc.assert(
    fc.property(fc.array(name, {maxLength: 4}), names => {
      const text = `{${names.map((name, at) => `${name}:${at}.5`).join()}}`;
      const {id} = JSON.parse(text) as {id?: number};
      assert.deepEqual(find(text), [id === undefined ? undefined : String(id)]);
    }),
  );
  for (const result of [
    "result",
    "resu\\u006ct",
    "resu\\u006Ct",
    "\\u0072\\u0065\\u0073\\u0075\\u006c\\u0074",
  ])
    assert.equal(findFieldText(Buffer.from(`{"resul":1,"${result}":2.0,"results":3}`), "result"), "2.0");
});

test("whatever the JSON, the text found parses to the id that JSON.parse gives", () => {
  const element = fc.oneof(
    fc.jsonValue(),
    fc.record({id: fc.jsonValue(), more: fc.jsonValue()}, {requiredKeys: []}),
  );
  fc.assert(
    fc.property(fc.array(element), fc.nat(4), (batch, space) => {
      const idTexts = find(JSON.stringify(batch, null, space));
      assert.equal(idTexts.length, batch.length);
      for (const [at, value] of (JSON.parse(JSON.stringify(batch)) as unknown[]).entries()) {
        const hasId =
          typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, "id");
        const idText = idTexts[at];
        assert.equal(idText !== undefined, hasId);
        if (idText !== undefined) assert.deepEqual(JSON.parse(idText), (value as {id: unknown}).id);
      }
    }),
  );
});
