/** The records of finality: what decodes, and what does not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  decodeFinalization,
  encodeFinalization,
  type Finalization,
} from "../../../../storage/block/finalization.ts";
import {
  decodeLayer1Record,
  encodeLayer1Record,
  type Layer1Record,
} from "../../../../storage/block/layer1Mark.ts";

const u48 = fc.oneof(fc.nat(300), fc.constantFrom(0, 2 ** 48 - 1));
const bytes = (length: number) =>
  fc.uint8Array({minLength: length, maxLength: length}).map(field => Buffer.from(field));
const finalization: fc.Arbitrary<Finalization> = fc.record(
  {
    startBlock: fc.option(u48, {nil: undefined}),
    endBlock: u48,
    layer1Block: u48,
    logIndex: fc.constantFrom(0, 7, 2 ** 32 - 1),
    transactionHash: bytes(32),
    finalRoot: bytes(32),
  },
  {noNullPrototype: true},
);
const DAMAGED = {code: "RECORD_DAMAGED"};

test("a finalization decodes to what was encoded, with its start block or without", () => {
  fc.assert(
    fc.property(finalization, given => {
      assert.deepEqual(decodeFinalization(7, encodeFinalization(given)), given);
    }),
  );
});

test("a finalization that is cut, too long or has unknown fields is RECORD_DAMAGED", () => {
  fc.assert(
    fc.property(finalization, given => {
      const body = encodeFinalization(given);
      for (const spoiled of [body.subarray(1), Buffer.alloc(0), Buffer.concat([body, Buffer.alloc(1)])])
        assert.throws(() => decodeFinalization(7, spoiled), {...DAMAGED, message: /^finalization 7: /});
      const odd = Buffer.from(body);
      odd[80] = 2;
      assert.throws(() => decodeFinalization(7, odd), DAMAGED);
    }),
  );
});

const layer1: fc.Arbitrary<Layer1Record> = fc.record(
  {
    mark: fc.record({block: u48, blockHash: bytes(32), contract: bytes(20)}, {noNullPrototype: true}),
    count: u48,
    begun: u48,
    from: fc.option(u48, {nil: undefined}),
    root: fc.constantFrom(undefined, "header", "suite"),
  },
  {noNullPrototype: true},
);

test("the record of layer 1 decodes to what was encoded, and no other length does", () => {
  fc.assert(
    fc.property(layer1, given => {
      const body = encodeLayer1Record(given);
      assert.deepEqual(decodeLayer1Record(body), given);
      assert.throws(() => decodeLayer1Record(body.subarray(1)), DAMAGED);
    }),
  );
});
