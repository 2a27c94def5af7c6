import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {BodyScan, MAX_DEPTH} from "../../../../server/json/bodyScan.ts";

function scan(text: string): Omit<BodyScan, "read"> {
  const body = Buffer.from(text);
  const scan = new BodyScan(body);
  assert.ok(scan.read(body.length));
  const {depth, members, fields, elements, oddCharacters} = scan;
  return {depth, members, fields, elements, oddCharacters};
}

test("depth counts arrays and objects, not the brackets inside strings", () => {
  assert.equal(scan("1").depth, 0);
  assert.equal(scan('{"a":[1,{"b":[]}]}').depth, 4);
  assert.equal(scan('["[[[[{{{{", "\\"[[[[", "\\\\"]').depth, 1);
  assert.equal(scan("[".repeat(MAX_DEPTH)).depth, MAX_DEPTH);
  assert.deepEqual(scan("[".repeat(100_000)), scan("[".repeat(MAX_DEPTH + 1)), "the scan ends there");
});

test("the elements of the outer array are told from its own commas", () => {
  assert.equal(scan('[{"a":1,"b":[1,2,3]},",,,",[4,5]]').elements, 3);
  assert.equal(scan(" \n[1,2]").elements, 2);
  assert.equal(scan('{"a":1,"b":2}').elements, 0);
});

test("numbers that a double would not give back are noticed, outside strings only", () => {
  for (const text of ["1.0", "-0", "-1", "1e2", "1E2", "9007199254740993", "1234567890123456"]) {
    assert.equal(scan(`{"id":${text}}`).oddCharacters, text.length, text);
    assert.equal(scan(`[${text},1,${text}]`).oddCharacters, 2 * text.length, text);
  }
  for (const text of ["1", "123456789012345", '"1.0"', '"-1e5"', "true", "false", "null"])
    assert.equal(scan(`{"id":${text},"x":true}`).oddCharacters, 0, text);
});

test("a string that never ends is scanned to the end of the body", () => {
  for (const text of ['["abc', '["abc\\', `["${"x".repeat(1000)}`, `["${"x".repeat(1000)}\\"[[`])
    assert.deepEqual(scan(text), {depth: 1, members: 1, fields: 0, elements: 1, oddCharacters: 0});
});

test("members are array elements and object fields, those of empty ones count as one", () => {
  for (const [text, members] of [
    ["1", 0],
    ["[]", 1],
    ["{}", 1],
    ["[1]", 1],
    ['[1,"2,3",[4,{"a":5,"b":"{[,"}]]', 7],
    ["[[],[],{}]", 6],
  ] as const)
    assert.equal(scan(text).members, members, text);
});

test("fields and objects are counted apart from elements, not the colons and braces inside strings", () => {
  for (const [text, fields] of [
    ["1", 0],
    ["[1,[]]", 0],
    ["{}", 1],
    ["[1,[],{},{}]", 2],
    ['{"a":1}', 2],
    ['{"a:b":"{:","c" : {"d{":[{"e":1}]}}', 7],
    ['[{"a":-1.5,"b":1},{"a":12:34}]', 6],
  ] as const)
    assert.equal(scan(text).fields, fields, text);
});

test("a field counts once more for every 96 bytes of its key, whatever its value's length", () => {
  for (const [bytes, fields] of [
    [0, 1],
    [95, 1],
    [96, 2],
    [191, 2],
    [192, 3],
    [9600, 101],
  ] as const) {
    assert.equal(scan(`{"${"k".repeat(bytes)}":1}`).fields, 1 + fields, String(bytes));
    assert.equal(
      scan(`{"${"k".repeat(bytes)}" : "${"v".repeat(300)}","${"v".repeat(95)}":1}`).fields,
      1 + fields + 1,
    );
  }
});

test("a field counts once more if its key has an escape, whatever escapes its value has", () => {
  assert.equal(scan('{"\\u0061":1,"b":"\\n","\\"":"c"}').fields, 1 + 5);
});

test("strings of every length end at their own quote, whatever stands before it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom("x", "\\", '"', "[", "1.5"), fc.nat(400)), {maxLength: 12}),
      runs => {
        const texts = runs.map(([part, count]) => part.repeat(count));
        const value = [...texts, texts.join(""), texts.join('"'), texts.join("\\")];
        const {depth, elements, members, oddCharacters} = scan(JSON.stringify(value));
        assert.deepEqual([depth, elements, members, oddCharacters], [1, value.length, value.length, 0]);
      },
    ),
  );
});
