import assert from "node:assert/strict";
import {test} from "node:test";
import {
  ADDRESS,
  AUTHORIZATION,
  assertCallsRefused,
  EMPTY_CALL,
  HASH,
  parseCall,
  parseParams,
  refusal,
  VIEW,
} from "../../../../support/estimates/estimateCalls.ts";

test("fields that are not known are ignored in a call", () => {
  const call = parseParams([JSON.parse(`{"__proto__":{"gas":"zz"},"constructor":1,"gasLimit":"zz"}`)]);
  assert.deepEqual(call, EMPTY_CALL);
});

test("fields of a prototype are not fields of the call", () => {
  assert.deepEqual(parseParams([Object.create({gas: "zz", type: 9})]), EMPTY_CALL);
});

test("a name in another case is refused by name, wherever a call has names", () => {
  const authorized = (more: object) => ({to: ADDRESS, authorizationList: [{...AUTHORIZATION, ...more}]});
  const table: [Record<string, unknown>, string][] = [
    [{From: ADDRESS}, "params[0]: expected the name from, got From"],
    [{DATA: "0x01"}, "params[0]: expected the name data, got DATA"],
    [{maxfeepergas: 1}, "params[0]: expected the name maxFeePerGas, got maxfeepergas"],
    [{BlobVersionedHashes: []}, "params[0]: expected the name blobVersionedHashes, got BlobVersionedHashes"],
    [
      {accessList: [{address: ADDRESS}, {address: ADDRESS, storagekeys: []}]},
      "params[0].accessList[1]: expected the name storageKeys, got storagekeys",
    ],
    [authorized({YParity: 1}), "params[0].authorizationList[0]: expected the name yParity, got YParity"],
  ];
  for (const [call, message] of table) assert.equal(refusal([call]).message, message);
  const account = refusal([{}, {[ADDRESS]: {Balance: 1}}]).message;
  assert.match(account, /expected only the fields \{balance, .*, got "?Balance/);
  for (const block of [{BlockNumber: "0x5"}, {blockhash: HASH}])
    assert.match(
      refusal([{}, block]).message,
      /^params\[1\] \(block\): expected the name block(Number|Hash), got /,
    );
  // null is as good as nothing.
  assert.deepEqual(parseCall({Data: null}), EMPTY_CALL);
});

test("fields of blobs are refused, with a type and without", () => {
  for (const name of ["blobVersionedHashes", "maxFeePerBlobGas", "blobs", "commitments", "proofs"])
    for (const type of [undefined, 2, 3])
      for (const value of [[], "0x0"])
        assert.equal(
          refusal([{type, [name]: value}]).message,
          `params[0].${name}: expected no field of blobs (they are not supported), got one`,
        );
});

test("data and input are whole bytes, and the same where both are given", () => {
  for (const data of ["0x", ""]) assert.deepEqual(parseCall({data, input: "0x"}).data, new Uint8Array(0));
  assert.deepEqual(parseCall({data: "0x0AfF"}).data, Uint8Array.of(10, 255));
  assert.deepEqual(parseCall({input: "0x01"}).data, Uint8Array.of(1));
  assert.deepEqual(parseCall({data: "0xab", input: "0xAB"}).data, Uint8Array.of(0xab));
  assertCallsRefused([
    [{data: "0x1"}, /^params\[0\]\.data: expected 0x and two hex digits per byte, got "0x1"/],
    [{data: "12"}, /^params\[0\]\.data: expected .*, got "12"/],
    [{data: "0x0g"}, /^params\[0\]\.data/],
    [{data: "0x\u0130\u0130"}, /^params\[0\]\.data/],
    [{data: 5}, /^params\[0\]\.data: expected .*, got 5/],
    [{input: ["0x"]}, /^params\[0\]\.input: expected .*, got an array of 1/],
    [
      {data: "0x", input: "0x00"},
      /^params\[0\]: expected data or input, or the same in both, got two values/,
    ],
    [{data: `0x${"0".repeat(2_000_001)}`}, /\(2000003 characters\)$/],
  ]);
});

test("a type is the one that is given where the fields agree, else what the fields say", () => {
  const table: [Record<string, unknown>, number | undefined][] = [
    [{type: "0x0"}, 0],
    [{type: 0, gasPrice: 1}, 0],
    [{type: "0x1"}, 1],
    [{type: "1", gasPrice: 1, accessList: []}, 1],
    [{type: "0x02", accessList: [], maxFeePerGas: 1}, 2],
    [{type: "0x4", authorizationList: [AUTHORIZATION], to: ADDRESS}, 4],
    [{gasPrice: 1}, 0],
    [{gasPrice: 1, accessList: []}, 1],
    [{maxFeePerGas: 1}, 2],
    [{maxPriorityFeePerGas: 0, accessList: []}, 2],
    [{authorizationList: [AUTHORIZATION], to: ADDRESS, maxFeePerGas: 1}, 4],
    [{accessList: []}, undefined],
  ];
  for (const [call, type] of table) assert.equal(parseCall(call).type, type, JSON.stringify(call));
});

test("a type against the fields, or one that is not executed, is refused", () => {
  const authorizationList = [AUTHORIZATION];
  const given = (name: string, type: number) =>
    new RegExp(`^params\\[0\\]: expected no ${name} in a call of type ${type}, got one$`);
  assertCallsRefused([
    [{type: 0, accessList: []}, given("accessList", 0)],
    [{type: 0, maxFeePerGas: 1}, given("maxFeePerGas", 0)],
    [{type: 1, maxPriorityFeePerGas: 1}, given("maxPriorityFeePerGas", 1)],
    [{type: 2, gasPrice: 1}, given("gasPrice", 2)],
    [{type: 2, authorizationList, to: ADDRESS}, given("authorizationList", 2)],
    [{type: 4, authorizationList, to: ADDRESS, gasPrice: 1}, given("gasPrice", 4)],
    [{authorizationList, to: ADDRESS, gasPrice: 1}, given("gasPrice", 4)],
    [
      {type: 4, to: ADDRESS},
      /^params\[0\]\.authorizationList: expected a value in a call of type 4, got nothing/,
    ],
    [{authorizationList}, /^params\[0\]\.to: expected a value in a call of type 4, got nothing/],
    [{type: 3}, /^params\[0\]\.type: expected 0, 1, 2 or 4 \(blobs are not supported\), got 3/],
    [{type: "0x5"}, /^params\[0\]\.type: expected 0, 1, 2 or 4, got "0x5"$/],
    [{type: `0x${"f".repeat(64)}`}, /^params\[0\]\.type: expected /],
    [{type: "legacy"}, /^params\[0\]\.type: expected a quantity.*, got "legacy"/],
  ]);
});

test("fees of both kinds, or a priority fee above the whole fee, are refused", () => {
  assert.equal(parseCall({maxFeePerGas: 5, maxPriorityFeePerGas: "5"}).maxPriorityFeePerGas, 5n);
  assertCallsRefused([
    [{gasPrice: 0, maxFeePerGas: 0}, /^params\[0\]: expected gasPrice or maxFeePerGas, got both/],
    [
      {gasPrice: 1, maxPriorityFeePerGas: 1},
      /^params\[0\]: expected gasPrice or maxPriorityFeePerGas, got both/,
    ],
    [{type: 0, gasPrice: 1, maxFeePerGas: 1}, /^params\[0\]: expected .*, got both/],
    [
      {maxFeePerGas: 5, maxPriorityFeePerGas: "0x6"},
      /^params\[0\]\.maxPriorityFeePerGas: expected at most maxFeePerGas \(0x5\), got "0x6"/,
    ],
  ]);
});

test("another chain's id is refused where this node's is known", () => {
  assert.deepEqual(parseCall({chainId: "0xe708"}), EMPTY_CALL);
  const {chainId: _, ...chain} = VIEW.chain;
  assert.deepEqual(parseParams([{chainId: 1}], {...VIEW, chain}), EMPTY_CALL);
  assertCallsRefused([
    [{chainId: 1}, /^params\[0\]\.chainId: expected 0xe708 \(this node's chain\), got 1/],
    [{chainId: "main"}, /^params\[0\]\.chainId: expected a quantity.*, got "main"/],
  ]);
});
