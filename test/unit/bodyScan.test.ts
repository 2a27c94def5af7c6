import assert from "node:assert/strict";
import {test} from "node:test";
import {scanBody} from "../../server/rpc/bodyScan.ts";

function scan(text: string) {
  return scanBody(Buffer.from(text));
}

test("depth counts arrays and objects, not the brackets inside strings", () => {
  assert.equal(scan("1").depth, 0);
  assert.equal(scan('{"a":[1,{"b":[]}]}').depth, 4);
  assert.equal(scan('["[[[[{{{{", "\\"[[[[", "\\\\"]').depth, 1);
  assert.equal(scan("[".repeat(100_000)).depth, 100_000);
});

test("the elements of the outer array are told from its own commas", () => {
  assert.equal(scan('[{"a":1,"b":[1,2,3]},",,,",[4,5]]').elements, 3);
  assert.equal(scan(" \n[1,2]").elements, 2);
  assert.equal(scan('{"a":1,"b":2}').elements, 0);
});

test("numbers that a double would not give back are noticed, outside strings only", () => {
  for (const text of ["1.0", "-0", "-1", "1e2", "1E2", "9007199254740993", "1234567890123456"]) {
    assert.equal(scan(`{"id":${text}}`).oddNumbers, true, text);
  }
  for (const text of ["1", "123456789012345", '"1.0"', '"-1e5"', "true", "false", "null"]) {
    assert.equal(scan(`{"id":${text},"x":true}`).oddNumbers, false, text);
  }
});

test("a string that never ends is scanned to the end of the body", () => {
  assert.deepEqual(scan('["abc'), {depth: 1, elements: 1, oddNumbers: false});
  assert.deepEqual(scan('["abc\\'), {depth: 1, elements: 1, oddNumbers: false});
});
