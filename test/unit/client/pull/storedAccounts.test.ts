/** The accounts with storage that a pull remembers. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {
  newTreeRoot,
  poseidon2Suite,
  sha256Suite,
  word,
  ZERO_WORD,
} from "../../../../client/hash/hashSuites.ts";
import type {TreeLeaf} from "../../../../client/leaves/treeLeaf.ts";
import type {TreeRange} from "../../../../client/pull/pulledRange.ts";
import {listStored, StoredAccounts} from "../../../../client/pull/storedAccounts.ts";

const NONE = encodeHex(newTreeRoot(sha256Suite));
const SOME = encodeHex(word(7));

function addressOf(leafIndex: number): string {
  return encodeHex(word(leafIndex)).replace(/^0x.{24}/, "0x");
}

function accountLeaf(leafIndex: number, storageRoot: string, address: string): TreeLeaf {
  const account = {nonce: 1n, balance: 2n, storageRoot, codeHash: SOME, keccakCodeHash: SOME, codeSize: 3n};
  return {role: "account", leafIndex, prev: 0, next: 1, hKey: ZERO_WORD, hVal: ZERO_WORD, address, account};
}

function rangeOf(from: number, leaves: readonly TreeLeaf[]): TreeRange {
  const block = {number: 1n, hash: SOME, stateRoot: SOME};
  const end = from + leaves.length;
  return {block, tree: "accounts", account: undefined, nextFreeNode: 2 ** 40, from, end, leaves};
}

test("accounts with storage come back in order, and no others", () => {
  const accounts = new StoredAccounts(2 ** 33);
  for (let from = 2 ** 33; from < 2 ** 33 + 3000; from += 100) {
    const leaves = Array.from({length: 100}, (_, i) =>
      accountLeaf(from + i, (from + i) % 2 === 0 ? SOME : NONE, addressOf(from + i)),
    );
    accounts.add(rangeOf(from, leaves));
  }
  assert.deepEqual(
    [...accounts.list()],
    Array.from({length: 1500}, (_, i) => ({
      leafIndex: 2 ** 33 + 2 * i,
      address: addressOf(2 ** 33 + 2 * i),
    })),
  );
  assert.equal(accounts.readTo, 2 ** 33 + 3000);
});

test("when there are too many, those of the first ranges are kept, and it says from where on the others are unknown", () => {
  const accounts = new StoredAccounts(2, 5);
  const range = (from: number, count: number) =>
    rangeOf(
      from,
      Array.from({length: count}, (_, i) => accountLeaf(from + i, SOME, addressOf(from + i))),
    );
  accounts.add(range(2, 4));
  accounts.add(range(6, 2));
  // One more would fit, but then there would be a hole.
  accounts.add(range(8, 1));
  assert.deepEqual(
    [...accounts.list()].map(({leafIndex}) => leafIndex),
    [2, 3, 4, 5],
  );
  assert.equal(accounts.readTo, 6);
});

test("an account whose storageRoot is that of a new tree of either suite has no storage", () => {
  const newTrees = [sha256Suite, poseidon2Suite].map(suite => encodeHex(newTreeRoot(suite)));
  assert.deepEqual(listStored(newTrees.map(root => accountLeaf(9, root, addressOf(9)))), []);
});
