import assert from "node:assert/strict";
import {test} from "node:test";
import {parseEstimateCall} from "../../../../../server/methods/calls/estimateParams.ts";
import {RpcCode} from "../../../../../server/rpc/rpcError.ts";
import {
  ADDRESS,
  ADDRESS_BYTES,
  assertRefused,
  EMPTY_CALL,
  HASH,
  parseParams,
  refusal,
  VIEW,
} from "../../../../support/estimates/estimateCalls.ts";

test("an empty call is a creation without code, of type 2, in the newest stored block", () => {
  assert.deepEqual(parseParams([{}]), EMPTY_CALL);
});

test("null is left out: the block, the overrides and every field", () => {
  const names =
    "from to gas gasPrice maxPriorityFeePerGas maxFeePerGas value data input nonce accessList chainId type";
  const nulls = Object.fromEntries(`${names} authorizationList`.split(" ").map(name => [name, null]));
  assert.deepEqual(parseParams([nulls, null, null]), EMPTY_CALL);
  assert.deepEqual(parseParams([nulls, null, null, null]), EMPTY_CALL);
  assert.deepEqual(parseParams([{}, {[ADDRESS]: {}}, null, null]).overrides, [{address: ADDRESS_BYTES}]);
  assert.deepEqual(parseParams([{}, null, {}]), {...EMPTY_CALL, overrides: []});
  assert.deepEqual(parseParams([{accessList: [{address: ADDRESS, storageKeys: null}]}]).accessList, [
    {address: ADDRESS_BYTES, storageKeys: new Uint8Array(0)},
  ]);
  const override = {balance: null, nonce: null, code: null, state: null, stateDiff: null};
  assert.deepEqual(parseParams([{}, {[ADDRESS]: override}]).overrides, [{address: ADDRESS_BYTES}]);
  assert.deepEqual(parseParams([{}, {[ADDRESS]: null}]).overrides, [{address: ADDRESS_BYTES}]);
});

test("the block is a selector of the stored column, also a decimal string", () => {
  const table: [unknown, number][] = [
    ["latest", 9],
    ["pending", 9],
    ["safe", 7],
    ["finalized", 7],
    ["earliest", 2],
    ["8", 8],
    ["0008", 8],
    [{blockNumber: "0x3"}, 3],
    [{blockHash: HASH, requireCanonical: true}, 5],
    [HASH, 5],
    [{blockNumber: "pending", blockHash: null}, 9],
  ];
  for (const [block, expected] of table) {
    assert.equal(parseParams([{}, block]).block, expected, JSON.stringify(block));
    assert.equal(parseParams([{}, block, {}]).block, expected, JSON.stringify(block));
  }
  for (const block of ["latest", {blockNumber: "latest"}, {blockNumber: "pending"}])
    assert.equal(parseParams([{}, block]).isLatest, true);
});

test("a block that is not in the store is -32001, and a tag without its block -32002", () => {
  for (const block of ["10", "0xa", "1", "9".repeat(75), {blockNumber: "0x1"}])
    assert.equal(refusal([{}, block]).code, RpcCode.BLOCK_UNKNOWN, JSON.stringify(block));
  const unfinalized = {...VIEW, head: {earliest: 0, finalized: undefined, latest: 4}};
  assert.equal(refusal([{}, "safe"], unfinalized).code, RpcCode.NOT_FINALIZED);
  const empty = {...VIEW, head: {earliest: undefined, finalized: undefined, latest: undefined}};
  assert.equal(refusal([{}], empty).code, RpcCode.BLOCK_UNKNOWN);
});

test("an object in the second place that is no block is the overrides, unless a third parameter is given", () => {
  const expected = [{address: ADDRESS_BYTES, balance: 1n}];
  const overrides = {[ADDRESS]: {balance: "0x1"}};
  assert.deepEqual(parseParams([{}, overrides]), {...EMPTY_CALL, overrides: expected});
  assert.deepEqual(parseParams([{}, overrides, null]), {...EMPTY_CALL, overrides: expected});
  const numbered = {...EMPTY_CALL, isLatest: false};
  assert.deepEqual(parseParams([{}, "0x3", overrides]), {...numbered, block: 3, overrides: expected});
  assert.match(
    refusal([{}, overrides, {}]).message,
    /^params\[1\] \(block\): expected blockNumber or blockHash, got neither/,
  );
});

test("wrong parameters are named with what came and what is expected", () => {
  assertRefused([
    [
      [],
      /^params\[0\] \(call\): expected a value for the first of \[call, block, overrides, blockOverrides\], got nothing/,
    ],
    [[null], /^params\[0\] \(call\): expected .*, got nothing/],
    [["0x"], /^params\[0\] \(call\): expected an object, got "0x"/],
    [[[]], /^params\[0\] \(call\): expected an object, got an array of 0/],
    [[{}, "latest", {}, []], /^params\[3\] \(blockOverrides\): expected \{number, time, .*\}, got an array/],
    [[{}, null, null, {beaconRoot: HASH}], /^params\[3\] .*expected only the fields .*, got "beaconRoot"$/],
    [[{}, null, null, {Number: "0x1"}], /^params\[3\] .*expected only the fields .*, got "Number"$/],
    [
      [{}, null, null, {number: `0x1${"0".repeat(16)}`}],
      /^params\[3\]\.number: expected a quantity below 2\^64/,
    ],
    [[{}, null, null, {prevRandao: "0x1"}], /^params\[3\]\.prevRandao: expected 32 bytes/],
    [[{}, null, null, {feeRecipient: HASH}], /^params\[3\]\.feeRecipient: expected 20 bytes/],
    [[{}, "latest", {}, null, 1], /^params: expected \[call, block, .*\], got 5 elements/],
    [[{}, 5], /^params\[1\] \(block\): expected.*, got 5/],
    [[{}, []], /^params\[1\] \(block\): expected.*, got an array of 0/],
    [[{}, "9".repeat(76)], /^params\[1\] \(block\): expected.*, got "9999/],
    [[{}, "-5"], /^params\[1\] \(block\): expected .*, got "-5"/],
    [[{}, "1.5"], /^params\[1\] \(block\): expected .*, got "1.5"/],
    [[{}, ""], /^params\[1\] \(block\): expected .*, got ""/],
    [[{}, "latest", "0x"], /^params\[2\] \(overrides\): expected an object keyed by address, got "0x"/],
    [[{}, "latest", []], /^params\[2\] \(overrides\): expected .*, got an array of 0/],
    [
      [{}, {requireCanonical: true}],
      /^params\[1\] \(overrides\): a key: expected 20 bytes.*, got "requireCanonical"/,
    ],
  ]);
});

test("a long call is parsed in parts of 256 entries, so that the main thread's other work has its turn", () => {
  const address = (at: number) => `0x${at.toString(16).padStart(40, "0")}`;
  const list = Array.from({length: 1024}, (_, at) => at);
  const signed = {chainId: 1, nonce: 0, yParity: 0, r: 1, s: 1};
  const keys = list.map(at => `0x${at.toString(16)}`);
  for (const [title, params] of Object.entries({
    accounts: [{accessList: list.map(at => ({address: address(at), storageKeys: []}))}],
    keys: [{accessList: [{address: ADDRESS, storageKeys: keys}]}],
    authorizations: [{to: ADDRESS, authorizationList: list.map(at => ({...signed, address: address(at)}))}],
    overrides: [{}, "latest", Object.fromEntries(list.map(at => [address(at), {nonce: 1}]))],
  })) {
    const work = parseEstimateCall("chain_estimateGas", params, VIEW);
    let parts = 1;
    while (work.next().done !== true) parts++;
    assert.equal(parts, 5, title);
  }
});
