/** Blocks that say what was there before them: taken if the store has that, refused without a trace if not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {AccountDifference} from "../../../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";
import {BlockWriter} from "../../../../storage/commit/blockWriter.ts";
import {keccak256} from "../../../../storage/hash/keccak.ts";
import type {StateStore} from "../../../../storage/stateStore.ts";
import {openOwned} from "../../../support/stores/importedStore.ts";
import {applyWithTrie} from "../../../support/stores/writtenStore.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const PRESENT = Buffer.alloc(20, 0xaa);
const ABSENT = Buffer.alloc(20, 0xbb);
const CODE = Buffer.from("6001600055", "hex");
const SLOT = word(1n);
const EMPTY_SLOT = word(2n);
const HEX = "0x(?:aa){20}";

function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

/** What block 0 leaves of PRESENT. */
const HELD = {present: true, nonce: 5n, balance: 77n, keccakCodeHash: keccak256(CODE)};

async function openStore(suite = "sha256"): Promise<{store: StateStore; writer: BlockWriter}> {
  const store = await openOwned(makeTemporaryFolder(), suite);
  const writer = await BlockWriter.create(store);
  const storage = [{slot: SLOT, value: word(9n)}];
  await apply(writer, 0, [{address: PRESENT, change: {nonce: 5n, balance: 77n, code: CODE, storage}}]);
  return {store, writer};
}

async function apply(
  writer: BlockWriter,
  number: number,
  differences: readonly AccountDifference[],
): Promise<void> {
  const accounts = new AccountDifferences();
  for (const difference of differences) accounts.add(difference);
  await applyWithTrie(writer, {header: {number, hash: Buffer.alloc(32, number + 1)}, accounts});
}

function rootOf(store: StateStore, block: number): string {
  return Buffer.from(store.reader.blockOrThrow(block).stateRoot).toString("hex");
}

const OTHER: readonly [string, AccountDifference, RegExp][] = [
  [
    "an account that is there",
    {address: PRESENT, change: {nonce: 6n}, before: {present: false}},
    new RegExp(
      `^block 1: account ${HEX}: the source says that it did not exist before the block; the store has it$`,
    ),
  ],
  [
    "an account that is not there",
    {address: ABSENT, change: {nonce: 6n}, before: {present: true}},
    /^block 1: account 0x(?:bb){20}: the source says that it existed before the block; the store does not have it$/,
  ],
  [
    "another nonce",
    {address: PRESENT, change: {nonce: 6n}, before: {...HELD, nonce: 4n}},
    new RegExp(`^block 1: account ${HEX}: nonce before the block: the source says 0x4, the store has 0x5$`),
  ],
  [
    "another balance of a deleted account",
    {address: PRESENT, change: undefined, before: {...HELD, balance: 0n}},
    new RegExp(
      `^block 1: account ${HEX}: balance before the block: the source says 0x0, the store has 0x4d$`,
    ),
  ],
  [
    "another code of an account that was only read",
    {address: PRESENT, change: {}, onlyRead: true, before: {...HELD, keccakCodeHash: word(1n)}},
    new RegExp(
      `^block 1: account ${HEX}: code hash before the block: the source says 0x0{63}1, the store has 0x[0-9a-f]{64}$`,
    ),
  ],
  [
    "another value of a changed slot",
    {address: PRESENT, change: {storage: [{slot: SLOT, value: word(10n), before: word(8n)}]}},
    new RegExp(
      `^block 1: account ${HEX}: slot 0x0{63}1 before the block: the source says 0x8, the store has 0x9$`,
    ),
  ],
  [
    "a value of a slot that is zero",
    {
      address: PRESENT,
      change: {
        storage: [
          {slot: SLOT, value: word(10n), before: word(9n)},
          {slot: EMPTY_SLOT, value: word(10n), before: word(8n)},
        ],
      },
    },
    /slot 0x0{63}2 before the block: the source says 0x8, the store has 0x0$/,
  ],
  [
    "another value of a slot that was only read",
    {address: PRESENT, change: {nonce: 6n, storage: [{slot: SLOT, value: word(8n), before: word(8n)}]}},
    /slot 0x0{63}1 before the block: the source says 0x8, the store has 0x9$/,
  ],
  [
    "a value of a slot of an account that is not there",
    {address: ABSENT, change: {storage: [{slot: SLOT, value: word(8n), before: word(8n)}]}, onlyRead: true},
    /^block 1: account 0x(?:bb){20}: slot 0x0{63}1 before the block: the source says 0x8, the store has 0x0$/,
  ],
];

for (const suite of ["sha256", "keccak"])
  test(`a block that contradicts the store is BEFORE_MISMATCH, names both values and leaves nothing (${suite})`, async () => {
    const {store, writer} = await openStore(suite);
    const plain = await openStore(suite);
    try {
      for (const [what, difference, message] of OTHER) {
        const first: AccountDifference = {address: Buffer.alloc(20, 1), change: {balance: 1n}};
        await assert.rejects(apply(writer, 1, [first, difference]), {code: "BEFORE_MISMATCH", message}, what);
      }
      const next: AccountDifference = {address: PRESENT, change: {nonce: 6n}};
      await apply(writer, 1, [next]);
      await writer.flush();
      await apply(plain.writer, 1, [next]);
      await plain.writer.flush();
      assert.equal(rootOf(store, 1), rootOf(plain.store, 1));
    } finally {
      await store.close();
      await plain.store.close();
    }
  });

for (const suite of ["sha256", "keccak"])
  test(`with what the store has, changes do what they do without it, and reads do nothing (${suite})`, async () => {
    const checked = await openStore(suite);
    const plain = await openStore(suite);
    try {
      await apply(checked.writer, 1, [
        {
          address: PRESENT,
          before: HELD,
          change: {
            balance: 78n,
            storage: [
              {slot: SLOT, value: word(9n), before: word(9n)},
              {slot: EMPTY_SLOT, value: word(3n), before: word(0n)},
            ],
          },
        },
        {address: ABSENT, before: {present: false}, onlyRead: true, change: {}},
        {
          address: Buffer.alloc(20, 0xcc),
          onlyRead: true,
          change: {storage: [{slot: SLOT, value: word(0n), before: word(0n)}]},
        },
        {address: Buffer.alloc(20, 0xdd), before: {present: false}, change: undefined},
        {address: Buffer.alloc(20, 0xee), before: {present: false}, change: {balance: 1n}},
      ]);
      await apply(plain.writer, 1, [
        {address: PRESENT, change: {balance: 78n, storage: [{slot: EMPTY_SLOT, value: word(3n)}]}},
        {address: Buffer.alloc(20, 0xee), change: {balance: 1n}},
      ]);
      await apply(checked.writer, 2, [
        {
          address: PRESENT,
          before: {...HELD, balance: 78n},
          onlyRead: true,
          change: {storage: [{slot: EMPTY_SLOT, value: word(3n), before: word(3n)}]},
        },
      ]);
      await apply(plain.writer, 2, []);
      await checked.writer.flush();
      await plain.writer.flush();
      for (const block of [0, 1, 2]) assert.equal(rootOf(checked.store, block), rootOf(plain.store, block));
      assert.equal(checked.writer.batch.bytesWritten, plain.writer.batch.bytesWritten);
      if (suite === "sha256") assert.equal(checked.writer.accounts, plain.writer.accounts);
    } finally {
      await checked.store.close();
      await plain.store.close();
    }
  });

test("an account created again keeps its code if the block says so; a slot written again gets a new leaf", async () => {
  const kept = await openStore();
  const given = await openStore();
  try {
    const change = {reset: true, nonce: 1n, balance: 2n, storage: [{slot: SLOT, value: word(4n)}]};
    await apply(kept.writer, 1, [{address: PRESENT, before: HELD, change: {...change, keepsCode: true}}]);
    await apply(given.writer, 1, [{address: PRESENT, change: {...change, code: CODE}}]);
    const again = {slot: SLOT, value: word(5n)};
    await apply(kept.writer, 2, [{address: PRESENT, change: {storage: [{...again, reset: true}]}}]);
    // One block removes the slot, and the next one writes it.
    await apply(given.writer, 2, [{address: PRESENT, change: {storage: [{slot: SLOT, value: word(0n)}]}}]);
    await apply(given.writer, 3, [{address: PRESENT, change: {storage: [again]}}]);
    await kept.writer.flush();
    await given.writer.flush();
    assert.equal(rootOf(kept.store, 1), rootOf(given.store, 1));
    assert.equal(rootOf(kept.store, 2), rootOf(given.store, 3));
  } finally {
    await kept.store.close();
    await given.store.close();
  }
});
