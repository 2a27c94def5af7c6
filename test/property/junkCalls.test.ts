/** Law: whatever the parameters of chain_estimateGas are, reading them ends in a call, or in an error with a code of such parameters. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {RpcCode, RpcError} from "../../server/rpc/rpcError.ts";
import {ADDRESS, AUTHORIZATION, HASH, parseParams} from "../support/estimates/estimateCalls.ts";
import {applyEdits, listPlaces} from "../support/reference/jsonPath.ts";
import {propertyRuns} from "../support/soak.ts";

/** Between them they have every field. */
const GOOD_PARAMS: readonly (readonly unknown[])[] = [
  [
    {
      ...{from: ADDRESS, to: ADDRESS, gas: "0x5208", value: 1, data: "0x01", nonce: "2", chainId: "0xe708"},
      ...{type: 4, maxFeePerGas: 2, maxPriorityFeePerGas: 1, authorizationList: [AUTHORIZATION]},
      accessList: [{address: ADDRESS, storageKeys: ["0x1", HASH]}],
    },
    {blockNumber: "0x5"},
    {[ADDRESS]: {balance: 1, nonce: 2, code: "0x60", state: {"0x1": "0x2"}}},
  ],
  [{to: ADDRESS, gasPrice: 1, input: "0x"}, {blockHash: HASH}, {[ADDRESS]: {stateDiff: {[HASH]: "0x1"}}}],
];

const junkKeys = fc.oneof(
  fc.constantFrom(
    "from",
    "gas",
    "type",
    "data",
    "state",
    "blockNumber",
    "__proto__",
    "toString",
    ADDRESS,
    "0x1",
  ),
  fc.string(),
);
const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    "0x",
    "0x1",
    "latest",
    "5",
    -1,
    1.5,
    2 ** 60,
    [],
    {},
    ADDRESS,
    HASH,
    ADDRESS + HASH,
  ),
  fc.jsonValue(),
  fc.dictionary(junkKeys, fc.jsonValue()),
);
const ALLOWED: readonly number[] = [RpcCode.INVALID_PARAMS, RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED];

function assertOnlyRpcErrors(params: readonly unknown[]): void {
  try {
    parseParams(params);
  } catch (error) {
    assert.ok(error instanceof RpcError, error instanceof Error ? (error.stack ?? "") : String(error));
    assert.ok(ALLOWED.includes(error.code), String(error.code));
    assert.ok(error.message.length < 500, error.message);
  }
}

test("junk only ever ends in an error with a code of this method's parameters", () => {
  fc.assert(fc.property(fc.array(junk, {maxLength: 4}), assertOnlyRpcErrors), {numRuns: propertyRuns(300)});
  fc.assert(
    fc.property(fc.array(fc.anything({withNullPrototype: true}), {maxLength: 4}), assertOnlyRpcErrors),
  );
});

test("junk in one place of a good call only ever ends in such an error", () => {
  const places = GOOD_PARAMS.flatMap(params => {
    parseParams(params);
    return listPlaces(params)
      .slice(1)
      .map(path => ({params, path}));
  });
  fc.assert(
    fc.property(fc.constantFrom(...places), junk, ({params, path}, value) =>
      assertOnlyRpcErrors(applyEdits(params, [{path, value}]) as readonly unknown[]),
    ),
    {numRuns: propertyRuns(300)},
  );
});
