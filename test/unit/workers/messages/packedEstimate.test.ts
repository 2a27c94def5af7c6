import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {PackedCalls} from "../../../../server/methods/packedCalls.ts";
import type {EstimateCall} from "../../../../workers/messages/estimateCall.ts";
import {estimateEnd, unpackEstimate} from "../../../../workers/messages/packedEstimate.ts";
import {propertyRuns} from "../../../support/soak.ts";

const bytes = (length: number) => fc.uint8Array({minLength: length, maxLength: length});
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, {nil: undefined});
const number = fc.bigInt({min: 0n, max: 2n ** 256n - 1n});
const list = <T>(value: fc.Arbitrary<T>) => maybe(fc.array(value, {minLength: 1, maxLength: 3}));

const call: fc.Arbitrary<EstimateCall> = fc.record({
  kind: fc.constantFrom("estimate", "call"),
  method: fc.constantFrom("", "eth_call", "a".repeat(255)),
  block: fc.nat({max: 2 ** 48 - 1}),
  isLatest: fc.boolean(),
  type: fc.constantFrom(undefined, 0, 1, 2, 4),
  from: maybe(bytes(20)),
  to: maybe(bytes(20)),
  value: number,
  gas: maybe(number),
  gasPrice: maybe(number),
  maxFeePerGas: maybe(number),
  maxPriorityFeePerGas: maybe(number),
  nonce: maybe(number),
  data: fc.uint8Array({maxLength: 300}),
  errorCodes: fc.constantFrom(undefined, {REVERTED: 3, EXECUTION_FAILED: -32015}),
  accessList: list(fc.record({address: bytes(20), storageKeys: bytes(64)})),
  authorizationList: list(
    fc.record({chainId: number, address: bytes(20), nonce: number, yParity: number, r: number, s: number}),
  ),
  overrides: list(
    fc.record({address: bytes(20), balance: maybe(number), slots: maybe(bytes(64)), code: maybe(bytes(9))}),
  ),
  blockOverrides: maybe(fc.record({number, miner: bytes(20)})),
});

test("calls come out as they were packed, one behind the other", () => {
  fc.assert(
    fc.property(fc.array(call, {maxLength: 5}), calls => {
      const packed = new PackedCalls(1);
      for (const one of calls) packed.putCall(one, 1);
      const shared = Buffer.from(new SharedArrayBuffer(packed.end));
      packed.packed.copy(shared, 0, 0, packed.end);
      let start = 0;
      const read = calls.map((_, at) => {
        const end = estimateEnd(shared, start);
        assert.equal(end - start, packed.slice(at, at + 1).length);
        const one = unpackEstimate(shared.subarray(start, end));
        start = end;
        return one;
      });
      assert.deepEqual(plain(read), plain(calls));
    }),
    {numRuns: propertyRuns(300)},
  );
});

/** Buffers are bytes like others, and an undefined field is the same as none. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => one !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, one]) => [name, plain(one)]),
  );
}
