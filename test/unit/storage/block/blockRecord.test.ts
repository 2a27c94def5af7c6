/** The record of a block: every field or none, and what does not decode. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import type {BlockHeader} from "../../../../storage/block/blockDifference.ts";
import {
  type BlockRecord,
  decodeBlockRecord,
  encodeBlockRecord,
  hashOfBlockRecord,
  MAX_EXTRA_DATA_BYTES,
} from "../../../../storage/block/blockRecord.ts";
import {bigEndian} from "../../../../storage/record/recordBody.ts";

const bytes = (length: number) =>
  fc.uint8Array({minLength: length, maxLength: length}).map(field => Buffer.from(field));
const u64 = fc.bigInt(0n, 2n ** 64n - 1n);
const u256 = fc.bigInt(0n, 2n ** 256n - 1n);

const header: fc.Arbitrary<BlockHeader> = fc.record(
  {
    number: fc.constant(7),
    hash: bytes(32),
    parentHash: bytes(32),
    timestamp: u64,
    gasLimit: u64,
    baseFeePerGas: u256,
    miner: bytes(20),
    mixHash: bytes(32),
    extraData: fc.uint8Array({maxLength: 100}).map(field => Buffer.from(field)),
    difficulty: fc.bigInt(1n, 2n ** 256n - 1n),
    stateRoot: bytes(32),
    gasUsed: u64,
    blobGasUsed: u64,
    excessBlobGas: u64,
    rest: fc.uint8Array({maxLength: 100}).map(field => Buffer.from(field)),
  },
  {requiredKeys: ["number", "hash"], noNullPrototype: true},
);
const record: fc.Arbitrary<BlockRecord> = fc.record(
  {
    header,
    stateRoot: bytes(32),
    accounts: fc.record(
      {
        nextFreeNode: fc.constantFrom(2, 2 ** 40 - 1),
        rootPage: fc.nat(),
        indexPage: fc.nat(),
        subRoot: bytes(32),
      },
      {noNullPrototype: true},
    ),
    nextPage: fc.constantFrom(1, 2 ** 48 - 1),
    trie: fc.option(
      fc.record({root: bytes(32), page: fc.nat(), isExecuted: fc.boolean()}, {noNullPrototype: true}),
      {nil: undefined},
    ),
  },
  {noNullPrototype: true},
);

const SMALLEST: BlockRecord = {
  header: {number: 0, hash: Buffer.alloc(32, 1)},
  stateRoot: Buffer.alloc(32, 2),
  accounts: {nextFreeNode: 2, rootPage: 0, indexPage: 0, subRoot: Buffer.alloc(32, 3)},
  nextPage: 1,
  trie: undefined,
};

test("a record decodes to what was encoded, whichever header fields there are", () => {
  fc.assert(
    fc.property(record, given => {
      const body = encodeBlockRecord(given);
      assert.deepEqual(decodeBlockRecord(7, body), given);
      assert.deepEqual(hashOfBlockRecord(body), given.header.hash);
    }),
  );
});

test("zeros are packed, and so is the state root where it repeats; a difficulty of 0 is not stored", () => {
  const body = encodeBlockRecord(SMALLEST);
  assert.equal(body.toString("hex", 64), `81000289 1f${"03".repeat(32)} 82000180`.replaceAll(" ", ""));
  const header = {...SMALLEST.header, stateRoot: SMALLEST.stateRoot};
  assert.equal(encodeBlockRecord({...SMALLEST, header}).toString("hex", body.length - 3), "0301000100c3");
  const proofOfStake = {...SMALLEST, header: {...SMALLEST.header, difficulty: 0n}};
  assert.deepEqual(encodeBlockRecord(proofOfStake), body);
});

test("extraData may be empty or as long as its length says, and no longer", () => {
  for (const length of [0, 1, 32, MAX_EXTRA_DATA_BYTES]) {
    const given = {...SMALLEST, header: {...SMALLEST.header, extraData: Buffer.alloc(length, 9)}};
    assert.equal(decodeBlockRecord(0, encodeBlockRecord(given)).header.extraData?.length, length);
  }
  const long = {...SMALLEST, header: {...SMALLEST.header, extraData: Buffer.alloc(MAX_EXTRA_DATA_BYTES + 1)}};
  assert.throws(() => encodeBlockRecord(long), {code: "BLOCK_INVALID"});
});

test("a record cut short anywhere, or too long, is RECORD_DAMAGED, and names its block", () => {
  fc.assert(
    fc.property(record, given => {
      const body = encodeBlockRecord(given);
      for (let bytes = 0; bytes < body.length; bytes++)
        assert.throws(() => decodeBlockRecord(7, body.subarray(0, bytes)), {
          code: "RECORD_DAMAGED",
          message: /^record of block 7: .*expected (at least )?[0-9]+/,
        });
      for (const [more, message] of [
        ["0007", /^record of block 7: expected ([0-9]+) bytes, got [0-9]+$/],
        ["00", /^record of block 7: packed bytes: expected [0-9]+, got [0-9]+$/],
        ["c4", /^record of block 7: packed bytes: expected a head of at most 195, got 196$/],
      ] as const)
        assert.throws(() => decodeBlockRecord(7, Buffer.concat([body, Buffer.from(more, "hex")])), {
          code: "RECORD_DAMAGED",
          message,
        });
    }),
  );
});

test("an integer is written big-endian where it fits, and refused where it does not", () => {
  const digits = Buffer.from(Uint8Array.from({length: 32}, (_, i) => i + 1)).toString("hex");
  assert.equal(bigEndian(BigInt(`0x${digits}`), 32).toString("hex"), digits);
  assert.deepEqual([...bigEndian(0x0102n, 8)], [0, 0, 0, 0, 0, 0, 1, 2]);
  assert.equal(bigEndian(2n ** 64n - 1n, 8).toString("hex"), "f".repeat(16));
  for (const [value, length] of [
    [-1n, 8],
    [2n ** 64n, 8],
    [2n ** 256n, 32],
  ] as const)
    assert.throws(() => bigEndian(value, length), {code: "BLOCK_INVALID"});
});
