/** The accounts with storage that a pull remembers. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeHex, type Hex} from "../../../../client/bytes/hex.ts";
import {word, ZERO_WORD} from "../../../../client/hash/hashSuites.ts";
import type {TreeLeaf} from "../../../../client/leaves/treeLeaf.ts";
import {StoredAccounts} from "../../../../client/pull/storedAccounts.ts";
import type {TreeRange} from "../../../../client/pull/treeRanges.ts";

/** Beyond 32 bits. */
const FIRST = 2 ** 33;
const SOME = encodeHex(word(7));

function addressOf(leafIndex: number): Hex {
  return encodeHex(word(leafIndex).subarray(12));
}

function accountLeaf(leafIndex: number, storageRoot: Hex, address: Hex): TreeLeaf {
  const account = {nonce: 1n, balance: 2n, storageRoot, codeHash: SOME, keccakCodeHash: SOME, codeSize: 3n};
  return {role: "account", leafIndex, prev: 0, next: 1, hKey: ZERO_WORD, hVal: ZERO_WORD, address, account};
}

function rangeOf(from: number, leaves: readonly TreeLeaf[]): TreeRange {
  const block = {number: 1n, hash: SOME, stateRoot: SOME};
  const end = from + leaves.length;
  return {block, tree: "accounts", account: undefined, nextFreeNode: 2 ** 40, from, end, leaves};
}

test("when there are too many, those of the first ranges are kept, and it says from where on the others are unknown", () => {
  const accounts = new StoredAccounts(FIRST, 5);
  const range = (from: number, count: number) =>
    rangeOf(
      from,
      Array.from({length: count}, (_, i) => accountLeaf(from + i, SOME, addressOf(from + i))),
    );
  accounts.add(range(FIRST, 4));
  accounts.add(range(FIRST + 4, 2));
  // One more would fit, but then there would be a hole.
  accounts.add(range(FIRST + 6, 1));
  assert.deepEqual(
    [...accounts.list()],
    [0, 1, 2, 3].map(i => ({leafIndex: FIRST + i, address: addressOf(FIRST + i)})),
  );
  assert.equal(accounts.readTo, FIRST + 4);
});
