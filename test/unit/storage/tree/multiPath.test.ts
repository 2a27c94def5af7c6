import assert from "node:assert/strict";
import {test} from "node:test";
import {meetingHeight} from "../../../../storage/tree/multiPath.ts";

test("two leaves meet at the height of the highest bit in which their indexes differ", () => {
  const table: [number, number, number][] = [
    [0, 1, 0],
    [2, 3, 0],
    [3, 6, 2],
    [0, 2 ** 31, 31],
    [2 ** 31, 2 ** 31 + 1, 0],
    [2 ** 31 - 1, 2 ** 31, 31],
    [2 ** 32 - 1, 2 ** 32, 32],
    [2 ** 32 + 5, 2 ** 33 + 5, 33],
    [2 ** 39 + 6, 2 ** 39 + 7, 0],
    [1, 2 ** 40 - 1, 39],
  ];
  for (const [i, j, height] of table) {
    assert.equal(meetingHeight(i, j), height, `${i} and ${j}`);
    const bits = (BigInt(i) ^ BigInt(j)).toString(2).length;
    assert.equal(height, bits - 1);
  }
});
