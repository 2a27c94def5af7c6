import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeQuantity, parseQuantity} from "../../../../server/rpc/quantity.ts";

test("quantities are hex without leading zeros", () => {
  assert.equal(parseQuantity("0x0"), 0);
  assert.equal(parseQuantity("0xfF"), 255);
  assert.equal(parseQuantity("0X10"), 16);
});

test("a number beyond every block is larger than all of them, not an error", () => {
  assert.equal(parseQuantity("0xfffffffffffff"), 2 ** 52 - 1);
  assert.equal(parseQuantity("0x10000000000000"), Number.POSITIVE_INFINITY);
  assert.equal(parseQuantity(`0x${"f".repeat(64)}`), Number.POSITIVE_INFINITY);
});

test("text that is no quantity is refused", () => {
  for (const text of [
    "",
    "0x",
    "1",
    "10",
    "0xg",
    "0x1 ",
    " 0x1",
    "-0x1",
    "0x-1",
    "0x1.0",
    "0x00",
    "0x064",
    `0x1${"0".repeat(64)}`,
  ])
    assert.equal(parseQuantity(text), undefined, text);
});

test("a quantity is written without leading zeros, and none is null", () => {
  assert.equal(encodeQuantity(0), "0x0");
  assert.equal(encodeQuantity(2n ** 255n), `0x8${"0".repeat(63)}`);
  assert.equal(encodeQuantity(undefined), null);
});
