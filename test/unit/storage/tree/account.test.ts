/** Accounts and tree roots as they are proved and as they are stored. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {word} from "../../../../client/hash/hashSuites.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {
  type Account,
  decodeStoredAccount,
  encodeAccountValueInto,
  encodeStoredAccount,
  NEW_ACCOUNT,
} from "../../../../storage/tree/account.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {stripZeros, writeWordInto} from "../../../../storage/tree/shortNumber.ts";
import {
  decodeTreeRoot,
  encodeTreeRootInto,
  newTreeRoot,
  ownTreeRoot,
  TREE_ROOT_BYTES,
} from "../../../../storage/tree/treeRoot.ts";

const empty = emptyTree(sha256Suite);
const bytes32 = fc.uint8Array({minLength: 32, maxLength: 32});
const number = fc
  .oneof(fc.uint8Array({maxLength: 32}), fc.constant(new Uint8Array(32).fill(0xff)))
  .map(stripZeros);
const page = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 48 - 1));
const treeRoot = fc.record({
  nextFreeNode: fc.oneof(fc.integer({min: 2, max: 1000}), fc.constant(2 ** 40 - 1)),
  rootPage: page,
  indexPage: page,
  subRoot: bytes32,
});
const account: fc.Arbitrary<Account> = fc.record({
  nonce: number,
  balance: number,
  code: fc.option(
    fc.record({codeHash: bytes32, keccakCodeHash: bytes32, codeSize: fc.integer({min: 1, max: 0xffffffff})}),
    {nil: undefined},
  ),
  storage: fc.option(fc.record({storageRoot: bytes32, tree: treeRoot}), {nil: undefined}),
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** With bytes as text, so that views and arrays compare. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

test("a stored account decodes to what was encoded", () => {
  fc.assert(
    fc.property(account, given => {
      assert.deepEqual(plain(decodeStoredAccount(encodeStoredAccount(given))), plain(given));
    }),
  );
});

test("an account's value is its six words", () => {
  fc.assert(
    fc.property(account, fc.nat(8), ({nonce, balance, code, storage}, offset) => {
      const out = Buffer.alloc(offset + 192 + 1, 0xee);
      encodeAccountValueInto(out, offset, {nonce, balance, code, storage}, empty);
      const number = (bytes: Uint8Array) => word(BigInt(`0x0${hex(bytes)}`));
      const words = [
        number(nonce),
        number(balance),
        storage?.storageRoot ?? empty.topRoot,
        code?.codeHash ?? empty.codeHash,
        code?.keccakCodeHash ??
          Buffer.from("c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470", "hex"),
        word(code?.codeSize ?? 0),
      ];
      assert.equal(hex(out.subarray(offset, offset + 192)), words.map(hex).join(""));
      assert.ok(out.subarray(0, offset).every(byte => byte === 0xee) && out.at(-1) === 0xee);
    }),
  );
});

test("a new account is stored in 3 bytes, one with a nonce and a balance in a few more", () => {
  assert.equal(hex(encodeStoredAccount(NEW_ACCOUNT)), "000000");
  const paid = {...NEW_ACCOUNT, nonce: Buffer.of(1), balance: Buffer.from("0de0b6b3a7640000", "hex")};
  assert.equal(hex(encodeStoredAccount(paid)), "000101080de0b6b3a7640000");
});

test("a stored account that ends too soon is RECORD_DAMAGED", () => {
  const code = {codeHash: word(1), keccakCodeHash: word(2), codeSize: 3};
  const whole = encodeStoredAccount({
    ...NEW_ACCOUNT,
    code,
    storage: {storageRoot: word(4), tree: newTreeRoot(empty)},
  });
  assert.throws(() => decodeStoredAccount(whole.subarray(0, 0)), {code: "RECORD_DAMAGED"});
  assert.throws(() => decodeStoredAccount(whole.subarray(0, 2)), {code: "RECORD_DAMAGED"});
  assert.throws(() => decodeStoredAccount(whole.subarray(0, 60)), {code: "RECORD_DAMAGED"});
  assert.throws(() => decodeStoredAccount(whole.subarray(0, 110)), {code: "RECORD_DAMAGED"});
});

test("a tree root is 49 bytes, and comes back with the highest numbers", () => {
  assert.equal(TREE_ROOT_BYTES, 49);
  fc.assert(
    fc.property(treeRoot, fc.nat(7), (root, offset) => {
      const bytes = Buffer.alloc(offset + TREE_ROOT_BYTES);
      encodeTreeRootInto(bytes, offset, root);
      assert.deepEqual(plain(decodeTreeRoot(bytes, offset)), plain(root));
    }),
  );
  const bytes = Buffer.alloc(TREE_ROOT_BYTES);
  const subRoot = Buffer.alloc(32, 0x44);
  encodeTreeRootInto(bytes, 0, {nextFreeNode: 0x0102030405, rootPage: 0x111213141516, indexPage: 7, subRoot});
  assert.equal(hex(bytes), `0102030405${"111213141516"}000000000007${"44".repeat(32)}`);
  const own = ownTreeRoot(decodeTreeRoot(bytes, 0));
  bytes.fill(0);
  assert.equal(hex(own.subRoot), "44".repeat(32));
});

test("a number loses its leading zeros and gets them back as a word", () => {
  fc.assert(
    fc.property(bytes32, fc.nat(32), (bytes, zeros) => {
      const full = Buffer.from(bytes).fill(0, 0, zeros);
      const stripped = stripZeros(full);
      assert.ok(stripped.length === 0 || stripped[0] !== 0);
      const out = Buffer.alloc(34, 0xee);
      writeWordInto(out, 1, stripped);
      assert.equal(hex(out), `ee${hex(full)}ee`);
    }),
  );
});
