import assert from "node:assert/strict";
import {test} from "node:test";
import {
  ADDRESS,
  ADDRESS_BYTES,
  assertRefused,
  createWord,
  parseParams,
} from "../../../../support/estimates/estimateCalls.ts";
import {packWords} from "../../../../support/estimates/packedWords.ts";

test("an account's fields are read, and its slots with their values: all of them, or those that differ", () => {
  const state = {"0x3": "0X04", "0x5": `0x${"0".repeat(63)}6`};
  const account = {balance: "0x1", nonce: 2, code: "0x6000", state};
  const other = {stateDiff: {"0x7": "0x0"}};
  const {overrides} = parseParams([{}, {[ADDRESS]: account, [`0x${"01".repeat(20)}`]: other}]);
  const [slots, differing] = [
    [3, 4, 5, 6],
    [7, 0],
  ].map(words => packWords(words.map(createWord)));
  const fields = {balance: 1n, nonce: 2n, code: Uint8Array.of(0x60, 0)};
  assert.deepEqual(overrides, [
    {address: ADDRESS_BYTES, ...fields, slots, replacesStorage: true},
    {address: new Uint8Array(20).fill(1), slots: differing, replacesStorage: false},
  ]);
});

test("wrong overrides are named by their account and slot", () => {
  const at = `params\\[1\\]\\["${ADDRESS}"\\]`;
  const account = (fields: unknown): unknown[] => [{}, {[ADDRESS]: fields}];
  assertRefused([
    [[{}, {"0x12": {}}], /^params\[1\] \(overrides\): a key: expected 20 bytes.*, got "0x12"/],
    [[{}, JSON.parse('{"__proto__":{}}')], /^params\[1\] \(overrides\): a key: expected .*, got "__proto__"/],
    [[{}, "latest", {x: {}}], /^params\[2\] \(overrides\): a key: expected .*, got "x"/],
    [[{}, {["k".repeat(10_000)]: {}}], /expected 20 bytes.* \(10000 characters\)/],
    [account(5), new RegExp(`^${at}: expected \\{balance, nonce, code, state or stateDiff\\}.*, got 5`)],
    [account([]), new RegExp(`^${at}: expected .*, got an array of 0`)],
    [account({balance: "x"}), new RegExp(`^${at}\\.balance: expected .*, got "x"`)],
    [
      account({code: `0x${"60".repeat(24_577)}`}),
      new RegExp(`^${at}\\.code: expected at most 24576 bytes \\(EIP-170\\), got 24577$`),
    ],
    [account({code: "0x1"}), new RegExp(`^${at}\\.code: expected 0x and two hex digits per byte, got "0x1"`)],
    [
      account({movePrecompileToAddress: ADDRESS}),
      /: expected only the fields .*, got "movePrecompileToAddress"/,
    ],
    [account(JSON.parse('{"__proto__":{}}')), /: expected only the fields .*, got "__proto__"/],
    [account({state: {}, stateDiff: {}}), new RegExp(`^${at}: expected state or stateDiff, got both`)],
    [account({state: []}), new RegExp(`^${at}\\.state: expected an object of slots.*, got an array of 0`)],
    [
      account({state: {"0x": "0x1"}}),
      new RegExp(`^${at}\\.state: a key: expected 0x and 1 to 64.*, got "0x"`),
    ],
    [account({state: {1: "0x1"}}), new RegExp(`^${at}\\.state: a key: expected .*, got "1"`)],
    [
      account({stateDiff: {"0x1": null}}),
      new RegExp(`^${at}\\.stateDiff\\["0x1"\\]: expected 0x.*, got null`),
    ],
    [account({stateDiff: {"0x1": 1}}), new RegExp(`^${at}\\.stateDiff\\["0x1"\\]: expected .*, got 1`)],
  ]);
});
