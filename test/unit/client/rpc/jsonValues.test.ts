import assert from "node:assert/strict";
import {test} from "node:test";
import {hasMoreValues} from "../../../../client/rpc/envelope.ts";

function countValues(text: string): number {
  const bytes = new TextEncoder().encode(text);
  let most = 0;
  while (hasMoreValues(bytes, most)) most++;
  return most;
}

test("commas, brackets and braces begin values, those in strings do not", () => {
  for (const [text, count] of [
    ["", 0],
    ["1", 0],
    ["[]", 1],
    ['[1,{"a":[2,3]}]', 5],
    ['{"a,[{":"b,[{","c":0}', 2],
    ['["\\",[\\\\",[{"]', 4],
    ['["[[[[', 1],
    ['"\\', 0],
  ] as const)
    assert.equal(countValues(text), count, text);
});
