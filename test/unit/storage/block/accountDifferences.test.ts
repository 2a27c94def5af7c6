/** The packed list of a block's account changes: what is added comes back, field by field. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import type {
  AccountBefore,
  AccountChange,
  AccountDifference,
} from "../../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";

const bytes = (length: number) =>
  fc.uint8Array({minLength: length, maxLength: length}).map(field => Buffer.from(field));
const change: fc.Arbitrary<AccountChange> = fc.record(
  {
    reset: fc.boolean(),
    keepsCode: fc.constant(true),
    nonce: fc.oneof(fc.bigInt(0n, 9n), fc.constant(2n ** 64n - 1n)),
    balance: fc.oneof(fc.bigInt(0n, 9n), fc.constant(2n ** 256n - 1n)),
    code: fc.uint8Array({maxLength: 300}).map(field => Buffer.from(field)),
    storage: fc.array(
      fc.record(
        {slot: bytes(32), value: bytes(32), before: bytes(32), reset: fc.constant(true)},
        {requiredKeys: ["slot", "value"], noNullPrototype: true},
      ),
      {maxLength: 5},
    ),
  },
  {requiredKeys: [], noNullPrototype: true},
);
const before: fc.Arbitrary<AccountBefore> = fc.record(
  {
    present: fc.boolean(),
    nonce: fc.constantFrom(0n, 2n ** 64n - 1n),
    balance: fc.constantFrom(0n, 2n ** 256n - 1n),
    keccakCodeHash: bytes(32),
  },
  {requiredKeys: ["present"], noNullPrototype: true},
);
const difference: fc.Arbitrary<AccountDifference> = fc.record(
  {
    address: bytes(20),
    change: fc.option(change, {nil: undefined}),
    before,
    onlyRead: fc.constant(true),
  },
  {requiredKeys: ["address", "change"], noNullPrototype: true},
);
const ADDRESS = Buffer.alloc(20, 0xab);

/** A change as it comes back: `reset` and `storage` are there in any case, `keepsCode` only with a reset. */
function filled({change, ...rest}: AccountDifference): AccountDifference {
  if (change === undefined) return {...rest, change};
  const {keepsCode, ...fields} = {reset: false, storage: [], ...change};
  return {...rest, change: fields.reset && keepsCode === true ? {...fields, keepsCode} : fields};
}

test("changes come back as they were added, in their order", () => {
  fc.assert(
    fc.property(fc.array(difference, {maxLength: 20}), given => {
      const packed = new AccountDifferences();
      for (const one of given) packed.add(one);
      assert.equal(packed.count, given.length);
      for (const [i, one] of given.entries()) {
        assert.deepEqual(packed.at(i), filled(one));
        assert.deepEqual(packed.addressAt(i), one.address);
      }
    }),
  );
});

test("changes larger than a chunk, and those around them, come back whole", () => {
  const packed = new AccountDifferences();
  const sizes = [10, 1 << 20, 3 << 20, 5, 900_000, 200_000, 7];
  for (const [i, size] of sizes.entries())
    packed.add({address: ADDRESS, change: {nonce: BigInt(i), code: Buffer.alloc(size, i + 1)}});
  for (const [i, size] of sizes.entries()) {
    const {nonce, code} = packed.at(i).change as AccountChange;
    assert.equal(nonce, BigInt(i));
    assert.ok(Buffer.alloc(size, i + 1).equals(code as Uint8Array), `change ${i}`);
  }
});

test("many changes take little more memory than their entries, which fill one chunk after another", () => {
  const packed = new AccountDifferences();
  const count = 20_000;
  for (let i = 0; i < count; i++) packed.add({address: ADDRESS, change: {balance: BigInt(i)}});
  // 20 of the address, flags, 32 of the balance, 4 for the number of slots. The last chunk of 1 MiB may be nearly empty.
  const entryBytes = 20 + 2 + 32 + 4;
  assert.ok(packed.bytes >= count * entryBytes);
  assert.ok(packed.bytes < 1.1 * count * entryBytes + (1 << 20), `${packed.bytes} bytes`);
});

test("a value out of range is BLOCK_INVALID, and names account and field", () => {
  const packed = new AccountDifferences();
  const cases = [
    [{nonce: -1n}, /nonce is not in 0 \.\. 2\^64 - 1/],
    [{nonce: 2n ** 64n}, /nonce is not in/],
    [{balance: 2n ** 256n}, /balance is not in 0 \.\. 2\^256 - 1/],
    [{storage: [{slot: Buffer.alloc(31), value: Buffer.alloc(32)}]}, /slots and values are 32 bytes each/],
    [{storage: [{slot: Buffer.alloc(32), value: Buffer.alloc(33)}]}, /slots and values are 32 bytes each/],
    [
      {storage: [{slot: Buffer.alloc(32), value: Buffer.alloc(32), before: Buffer.alloc(31)}]},
      /slots and values are 32 bytes each/,
    ],
  ] as const;
  for (const [wrong, message] of cases)
    assert.throws(
      () => packed.add({address: ADDRESS, change: wrong}),
      (error: Error & {code?: string}) => {
        assert.equal(error.code, "BLOCK_INVALID");
        assert.match(error.message, new RegExp(`^account 0x${"ab".repeat(20)}: `));
        assert.match(error.message, message);
        return true;
      },
    );
  assert.throws(() => packed.add({address: Buffer.alloc(19), change: undefined}), {code: "BLOCK_INVALID"});
});
