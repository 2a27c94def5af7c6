import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {parseEstimateCall} from "../../server/methods/estimateGas/estimateParams.ts";
import {RpcCode, RpcError} from "../../server/rpc/rpcError.ts";
import {ADDRESS, HASH, VIEW} from "../support/estimates/estimateCalls.ts";
import {anySpelledCall} from "../support/estimates/spelledCalls.ts";
import {propertyRuns} from "../support/soak.ts";

test("any call in any spelling is read as it was meant", () => {
  fc.assert(
    fc.property(anySpelledCall, ({call, params}) => {
      assert.deepEqual(parseEstimateCall(JSON.parse(JSON.stringify(params)), VIEW), call);
    }),
    {numRuns: propertyRuns(300)},
  );
});

/** Every place inside JSON, as the path to it. */
function places(value: unknown, path: readonly string[] = []): string[][] {
  const inner = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [[...path], ...inner.flatMap(([key, one]) => places(one, [...path, key]))];
}

function replaceAt(value: unknown, [key, ...rest]: readonly string[], junk: unknown): unknown {
  if (key === undefined) return junk;
  const copy = (Array.isArray(value) ? [...value] : {...(value as object)}) as Record<string, unknown>;
  copy[key] = replaceAt(copy[key], rest, junk);
  return copy;
}

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
    parseEstimateCall(params, VIEW);
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
  fc.assert(
    fc.property(anySpelledCall, fc.nat(), junk, ({params}, place, value) => {
      const all = places(params).slice(1);
      const path = all[place % all.length] as string[];
      assertOnlyRpcErrors(replaceAt(params, path, value) as unknown[]);
    }),
    {numRuns: propertyRuns(300)},
  );
});
