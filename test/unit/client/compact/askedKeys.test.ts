/** How many entries and keys a verifier takes. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {askAccounts, askSlots} from "../../../../client/compact/askedKeys.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";

const ADDRESS = `0x${"24".repeat(20)}`;
const MAX = 16_384;

const keysOf = (count: number) => new Array<string>(count).fill("0x1");
const entriesOf = (count: number) =>
  new Array<{address: string; storageKeys: string[]}>(count).fill({address: ADDRESS, storageKeys: []});

test("a request has 1 to 16 384 entries", () => {
  for (const count of [1, MAX]) assert.equal(askAccounts(sha256Suite, entriesOf(count)).hKeys.length, count);
  for (const count of [0, MAX + 1])
    assert.throws(() => askAccounts(sha256Suite, entriesOf(count)), {
      code: "PROOF_REFUSED",
      message: `request: expected 1 to 16384 entries, got ${count}`,
    });
});

test("an entry has 0 to 16 384 storage keys", () => {
  for (const count of [0, 1, MAX]) {
    const {slots} = askAccounts(sha256Suite, [{address: ADDRESS, storageKeys: keysOf(count)}]);
    assert.equal(slots[0]?.length, count);
  }
  assert.throws(() => askAccounts(sha256Suite, [{address: ADDRESS, storageKeys: keysOf(MAX + 1)}]), {
    message: "request: expected 0 to 16384 storage keys of one account, got 16385",
  });
});

test("all entries of one account have at most 16 384 storage keys together, however they write its address", () => {
  const address = `0x${"ab".repeat(20)}`;
  const halves = (more: number) => [
    {address, storageKeys: keysOf(MAX / 2)},
    {address: address.toUpperCase().replace("X", "x"), storageKeys: keysOf(MAX / 2 + more)},
    {address: ADDRESS, storageKeys: keysOf(MAX)},
  ];
  assert.equal(askAccounts(sha256Suite, halves(0)).slots.length, 3);
  assert.throws(() => askAccounts(sha256Suite, halves(1)), {
    message: "request: expected 0 to 16384 storage keys of one account, got 16385",
  });
});

test("a request for slots alone has 1 to 16 384 storage keys", () => {
  for (const count of [1, MAX]) assert.equal(askSlots(sha256Suite, keysOf(count)).hKeys.length, count);
  for (const count of [0, MAX + 1])
    assert.throws(() => askSlots(sha256Suite, keysOf(count)), {
      message: `request: expected 1 to 16384 storage keys, got ${count}`,
    });
});
