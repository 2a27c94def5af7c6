import assert from "node:assert/strict";
import {test} from "node:test";
import {RpcCode} from "../../../../../server/rpc/rpcError.ts";
import {
  ADDRESS,
  ADDRESS_BYTES,
  AUTHORIZATION,
  assertCallsRefused,
  assertRefused,
  parseCall,
  parseParams,
  refusal,
} from "../../../../support/estimates/estimateCalls.ts";

test("a quantity is 0x hex without leading zeros, a decimal string or an exact JSON number", () => {
  const table: [unknown, bigint][] = [
    ["0x0", 0n],
    ["0xfF", 255n],
    ["0XfF", 255n],
    [`0x${"f".repeat(64)}`, 2n ** 256n - 1n],
    ["0", 0n],
    ["010", 10n],
    [(2n ** 256n - 1n).toString(), 2n ** 256n - 1n],
    [0, 0n],
    [-0, 0n],
    [2 ** 53 - 1, 2n ** 53n - 1n],
  ];
  for (const [value, expected] of table) {
    assert.equal(parseParams([{value}]).value, expected, String(value));
    assert.equal(parseParams([{gasPrice: value}]).gasPrice, expected, String(value));
    const {overrides} = parseParams([{}, {[ADDRESS]: {balance: value}}]);
    assert.equal(overrides?.[0]?.balance, expected, String(value));
  }
});

test("what is no quantity, not exact or too large is refused, and numbers are asked for as strings", () => {
  const values = [
    ...[
      "",
      "0x",
      "0x00",
      "0x064",
      "x",
      "0xg",
      " 1",
      "1 ",
      "0x 1",
      "-1",
      "+1",
      "1e3",
      "1.0",
      "1_0",
      "0b1",
      "0o7",
      "\u0661",
      "1n",
    ],
    ...[`0x1${"0".repeat(64)}`, (2n ** 256n).toString(), "0".repeat(79), "9".repeat(1_000_000)],
    ...[-1, 0.5, 2 ** 53, 1e21, Number.MAX_VALUE, true, [], ["0x1"], {}],
  ];
  for (const value of values) {
    const {code, message} = refusal([{value}]);
    assert.equal(code, RpcCode.INVALID_PARAMS, message);
    assert.match(message, /^params\[0\]\.value: expected a quantity below 2\^256 \(as a string, 0x hex/);
    assert.ok(message.length < 300);
  }
});

test("each quantity has its own bound", () => {
  const u64 = 2n ** 64n;
  assert.equal(parseCall({nonce: `${u64 - 2n}`}).nonce, u64 - 2n);
  assert.equal(parseCall({gas: `${u64 - 1n}`}).gas, u64 - 1n);
  assert.equal(parseCall({gas: 0}).gas, 0n);
  const authorization = {...AUTHORIZATION, nonce: `${u64 - 1n}`, yParity: 255, chainId: 0};
  const [parsed] = parseCall({to: ADDRESS, authorizationList: [authorization]}).authorizationList ?? [];
  assert.deepEqual([parsed?.nonce, parsed?.yParity, parsed?.chainId], [u64 - 1n, 255n, 0n]);
  const authorized = (change: object) => ({to: ADDRESS, authorizationList: [{...AUTHORIZATION, ...change}]});
  assertCallsRefused([
    [
      {nonce: `${u64 - 1n}`},
      /^params\[0\]\.nonce: expected a quantity below 2\^64 - 1.*, got "18446744073709551615"/,
    ],
    [{gas: `${u64}`}, /^params\[0\]\.gas: expected a quantity below 2\^64 \(.*, got "18446744073709551616"/],
    [{gas: "much"}, /^params\[0\]\.gas: expected a quantity.*, got "much"/],
    [authorized({nonce: `${u64}`}), /authorizationList\[0\]\.nonce: expected a quantity below 2\^64 \(/],
    [
      authorized({yParity: 256}),
      /authorizationList\[0\]\.yParity: expected a quantity below 2\^8.*, got 256/,
    ],
  ]);
  const overrides = {[ADDRESS]: {nonce: `${u64 - 1n}`}};
  assertRefused([
    [[{}, overrides], /^params\[1\]\["0xAb.*"\]\.nonce: expected a quantity below 2\^64 - 1 \(/],
  ]);
});

test("addresses are 20 bytes in any case, checksums are not looked at", () => {
  const {from, to} = parseCall({from: ADDRESS, to: ADDRESS.toLowerCase()});
  assert.deepEqual([from, to], [ADDRESS_BYTES, ADDRESS_BYTES]);
  assertCallsRefused([
    [{from: "0x12"}, /^params\[0\]\.from: expected 20 bytes, 0x and 40 hex digits, got "0x12"/],
    [{to: ADDRESS.slice(2)}, /^params\[0\]\.to: expected /],
    [{to: `${ADDRESS}00`}, /^params\[0\]\.to: expected /],
    [{to: `0x${"zz".repeat(20)}`}, /^params\[0\]\.to: expected /],
    [{to: ""}, /^params\[0\]\.to: expected .*, got ""/],
    [{from: 0}, /^params\[0\]\.from: expected .*, got 0/],
  ]);
});
