import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import fc from "fast-check";
import {decodeRevertReason} from "../../../../../workers/estimate/call/revertReason.ts";

const ERROR = selectorOf("Error(string)");
const PANIC = selectorOf("Panic(uint256)");

function selectorOf(signature: string): Uint8Array {
  return keccak_256(Buffer.from(signature)).subarray(0, 4);
}

function word(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

/** As Solidity encodes it. */
function encodeError(text: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(text);
  const padding = new Uint8Array((32 - (bytes.length % 32)) % 32);
  return Buffer.concat([ERROR, word(32n), word(BigInt(bytes.length)), bytes, padding]);
}

function encodePanic(code: bigint): Uint8Array {
  return Buffer.concat([PANIC, word(code)]);
}

test("the text of Error(string) is the reason, of any length up to 1024 characters", () => {
  for (const text of [
    "",
    "a",
    "insufficient allowance",
    "x".repeat(31),
    "x".repeat(32),
    "x".repeat(33),
    "Grüße, 世界 🎉",
  ])
    assert.equal(decodeRevertReason(encodeError(text)), text);
  assert.equal(decodeRevertReason(encodeError("y".repeat(5000))), "y".repeat(1024));
});

test("the text need not be padded", () => {
  const whole = encodeError("not padded");
  assert.equal(decodeRevertReason(whole.subarray(0, 4 + 64 + 10)), "not padded");
  assert.equal(decodeRevertReason(whole.subarray(0, 4 + 64 + 9)), undefined);
});

test("what follows the text is ignored, and an offset may skip what precedes it", () => {
  assert.equal(decodeRevertReason(Buffer.concat([encodeError("text"), new Uint8Array(64)])), "text");
  const later = Buffer.concat([ERROR, word(96n), word(7n), word(7n), word(2n), Buffer.from("ok")]);
  assert.equal(decodeRevertReason(later), "ok");
});

test("the codes of Panic(uint256) are named as Solidity documents them", () => {
  for (const [code, reason] of [
    [0x00n, "panic: generic panic (0x0)"],
    [0x01n, "panic: assert(false) (0x1)"],
    [0x11n, "panic: arithmetic underflow or overflow (0x11)"],
    [0x12n, "panic: division or modulo by zero (0x12)"],
    [0x21n, "panic: enum overflow (0x21)"],
    [0x22n, "panic: invalid encoded storage byte array accessed (0x22)"],
    [0x31n, "panic: out-of-bounds array access; popping on an empty array (0x31)"],
    [0x32n, "panic: out-of-bounds access of an array or bytesN (0x32)"],
    [0x41n, "panic: out of memory (0x41)"],
    [0x51n, "panic: uninitialized function (0x51)"],
    [0x02n, "panic: unknown panic code (0x2)"],
    [2n ** 256n - 1n, `panic: unknown panic code (0x${"f".repeat(64)})`],
  ] as const)
    assert.equal(decodeRevertReason(encodePanic(code)), reason);
});

test("a panic that is not exactly one word is none", () => {
  const panic = encodePanic(1n);
  assert.equal(decodeRevertReason(panic.subarray(0, 35)), undefined);
  assert.equal(decodeRevertReason(Buffer.concat([panic, Uint8Array.of(0)])), undefined);
});

test("offsets and lengths that reach past the end are no reason", () => {
  const [zero, max] = [0n, 2n ** 256n - 1n];
  for (const [offset, length] of [
    [max, 1n],
    [2n ** 255n, 1n],
    [2n ** 53n, 1n],
    [2n ** 32n, 1n],
    [65n, 1n],
    [96n, 1n],
    [32n, max],
    [32n, 2n ** 53n],
    [32n, 2n ** 32n],
    [32n, 33n],
  ] as const) {
    const bytes = Buffer.concat([ERROR, word(offset), word(length), word(zero)]);
    assert.equal(decodeRevertReason(bytes), undefined, `offset ${offset}, length ${length}`);
  }
});

test("an offset may point at itself: the length is then what the offset says", () => {
  assert.equal(decodeRevertReason(Buffer.concat([ERROR, word(0n)])), "");
});

test("bytes that are not UTF-8 become replacement characters", () => {
  assert.equal(decodeRevertReason(encodeError(Uint8Array.of(0x61, 0xff, 0xc3, 0x62))), "a\ufffd\ufffdb");
  assert.equal(decodeRevertReason(encodeError(Uint8Array.of(0xed, 0xa0, 0x80))), "\ufffd\ufffd\ufffd");
});

test("no data, too little, and other selectors are no reason", () => {
  for (const bytes of [
    new Uint8Array(0),
    ERROR,
    PANIC,
    Buffer.concat([ERROR, new Uint8Array(31)]),
    Buffer.concat([selectorOf("InsufficientBalance(uint256)"), word(1n)]),
    Buffer.concat([selectorOf("Error(bytes)"), encodeError("text").subarray(4)]),
    new Uint8Array(100),
  ])
    assert.equal(decodeRevertReason(bytes), undefined);
});

test("a view into other memory is read from where it begins to where it ends", () => {
  const around = Buffer.concat([new Uint8Array(7).fill(0xff), encodeError("inside"), Buffer.from("behind")]);
  assert.equal(decodeRevertReason(around.subarray(7, 7 + 4 + 96)), "inside");
  assert.equal(decodeRevertReason(new Uint8Array(around).subarray(7)), "inside");
});

test("any bytes behind either selector give at most 1024 characters, and never an exception", () => {
  const small = fc.bigInt({min: 0n, max: 200n}).map(word);
  const part = fc.oneof(small, fc.uint8Array({maxLength: 70}));
  fc.assert(
    fc.property(fc.constantFrom(ERROR, PANIC), fc.array(part, {maxLength: 8}), (selector, parts) => {
      const returned = Buffer.concat([selector, ...parts]);
      const reason = decodeRevertReason(returned);
      assert.ok(reason === undefined || reason.length <= 1024);
    }),
    {numRuns: 2000},
  );
});
