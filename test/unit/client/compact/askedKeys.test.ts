/** How many entries and keys a verifier takes. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {askAccounts, askSlots} from "../../../../client/compact/askedKeys.ts";
import {sha256Suite} from "../../../../client/hash/hashSuites.ts";

const ADDRESS = `0x${"24".repeat(20)}`;
const MAX = 16_384;

const keysOf = (count: number) => new Array<string>(count).fill("0x1");

for (const [what, least, range, ask] of [
  [
    "a request",
    1,
    "1 to 16384 entries",
    count =>
      askAccounts(sha256Suite, new Array(count).fill({address: ADDRESS, storageKeys: []})).hKeys.length,
  ],
  [
    "an entry",
    0,
    "0 to 16384 storage keys of one account",
    count => askAccounts(sha256Suite, [{address: ADDRESS, storageKeys: keysOf(count)}]).slots[0]?.length,
  ],
  [
    "a request for slots alone",
    1,
    "1 to 16384 storage keys",
    count => askSlots(sha256Suite, keysOf(count)).hKeys.length,
  ],
] as const satisfies readonly (readonly [string, number, string, (count: number) => number | undefined])[])
  test(`${what} has ${range}`, () => {
    for (const count of [least, 1, MAX]) assert.equal(ask(count), count);
    for (const count of least === 0 ? [MAX + 1] : [0, MAX + 1])
      assert.throws(() => ask(count), {
        code: "PROOF_REFUSED",
        message: `request: expected ${range}, got ${count}`,
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
