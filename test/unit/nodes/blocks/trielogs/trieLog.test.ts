/** The decoder of trie logs: what it refuses is named with its place. That it reads them right, property/trieLogs shows. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeTrieLog} from "../../../../../nodes/blocks/trielogs/trieLog.ts";
import {encodeTrieLog, type RlpItem} from "../../../../support/chains/trieLogWriter.ts";

const NULL = new Uint8Array(0);
const HASH = Buffer.alloc(32, 0x11);
const ADDRESS = Buffer.alloc(20, 0xaa);
const VALUE: RlpItem = [1n, 300n, Buffer.alloc(32, 0x22), Buffer.alloc(32, 0x33)];
const SLOT: RlpItem = [keccak_256(Buffer.alloc(32)), NULL, 7n, NULL, NULL];
const ACCOUNT: RlpItem = [ADDRESS, [NULL, Buffer.from("6001", "hex"), NULL], [NULL, VALUE, 1n], [SLOT]];

test("integers at the end are taken and not used; slots without their key are decoded", () => {
  const plain = encodeTrieLog([HASH, 0n, ACCOUNT]);
  const more = encodeTrieLog([HASH, 0n, ACCOUNT, 31n, 1_714_000_000n]);
  assert.deepEqual(decodeTrieLog(more), decodeTrieLog(plain));
  const nameless = encodeTrieLog([HASH, 0n, [ADDRESS, NULL, NULL, [[HASH, 5n, NULL, 1n]]]]);
  assert.equal(decodeTrieLog(nameless).accounts[0]?.storage[0]?.key, undefined);
});

const REFUSED: readonly (readonly [log: RlpItem | string, message: RegExp])[] = [
  ["", /^trie log, byte 0: the trie log: expected another item, got the end$/],
  ["8568656c6c6f", /^trie log, byte 0: the trie log: expected a list, got bytes$/],
  ["f8ff00", /^trie log, byte 0: the trie log: an item is longer than what holds it$/],
  ["f9", /^trie log, byte 0: the trie log: an item is longer than what holds it$/],
  ["ffffffffffffffffff", /the trie log: expected a length in its shortest form$/],
  ["f80180", /^trie log, byte 0: the trie log: expected a length in its shortest form$/],
  [
    "c1".repeat(100),
    /^trie log, byte 2: what comes after the trie log: expected the end, got 98 more bytes$/,
  ],
  [[HASH.subarray(1), 5n], /byte 1: the block hash: expected 32 bytes, got 31$/],
  [[HASH], /^trie log, byte 34: the block number: expected another item, got the end$/],
  [[HASH, Buffer.from("0005", "hex")], /the block number: expected a number without leading zeros$/],
  [[HASH, 1n << 48n], /the block number: expected a number of at most 6 bytes, got 7$/],
  [
    `${Buffer.from(encodeTrieLog([HASH, 5n])).toString("hex")}00`,
    /^trie log, byte 35: what comes after the trie log: expected the end, got 1 more byte$/,
  ],
  [
    [HASH, 5n, 7n, ACCOUNT],
    /^trie log of block 5, byte 37: an integer at the end: expected bytes, got a list$/,
  ],
  [[HASH, 5n, ...Array<bigint>(17).fill(1n)], /an integer at the end: expected at most 16 of them$/],
  [[HASH, 5n, [ADDRESS.subarray(1), NULL, NULL, NULL]], /byte 37: an address: expected 20 bytes, got 19$/],
  [[HASH, 5n, [ADDRESS, NULL, NULL]], /a storage: expected another item, got the end$/],
  [[HASH, 5n, [ADDRESS, NULL, NULL, NULL, NULL]], /an account: expected the end, got 1 more byte$/],
  [
    [HASH, 5n, [ADDRESS, Buffer.from("6001", "hex"), NULL, NULL]],
    /the change of code: expected a list, got bytes$/,
  ],
  [[HASH, 5n, [ADDRESS, [NULL, NULL], NULL, NULL]], /a cleared flag: expected another item, got the end$/],
  [[HASH, 5n, [ADDRESS, [NULL, NULL, 2n], NULL, NULL]], /a cleared flag: expected 0 or 1, got 2$/],
  [
    [HASH, 5n, [ADDRESS, NULL, [[1n << 64n, 0n, NULL, NULL], NULL, NULL], NULL]],
    /a nonce: expected a number of at most 8 bytes, got 9$/,
  ],
  [
    [HASH, 5n, [ADDRESS, NULL, [[1n, 1n << 256n, NULL, NULL], NULL, NULL], NULL]],
    /a balance: expected a number of at most 32 bytes, got 33/,
  ],
  [
    [HASH, 5n, [ADDRESS, NULL, [[1n, 1n, NULL, 1n], NULL, NULL], NULL]],
    /a code hash: expected 32 bytes, got 1$/,
  ],
  [
    [HASH, 5n, [ADDRESS, NULL, NULL, [[HASH, Buffer.from("0001", "hex"), NULL, NULL, NULL]]]],
    /a slot's old value: expected a number without leading zeros$/,
  ],
  [
    [HASH, 5n, [ADDRESS, NULL, NULL, [[HASH, NULL, NULL, NULL, NULL, NULL]]]],
    /a slot: expected the end, got 1 more byte$/,
  ],
];

test("what is no whole trie log is refused with block and byte, and one that is too long before it is read", () => {
  for (const [log, message] of REFUSED) {
    const bytes = typeof log === "string" ? Buffer.from(log, "hex") : encodeTrieLog(log);
    assert.throws(() => decodeTrieLog(bytes), {name: "SourceError", message});
  }
  const whole = encodeTrieLog([HASH, 5n, ACCOUNT]);
  for (let length = 0; length < whole.length; length++)
    assert.throws(() => decodeTrieLog(whole.subarray(0, length)), {name: "SourceError"});
  const long = Buffer.alloc((32 << 20) + 1);
  assert.throws(() => decodeTrieLog(long), /expected at most 33554432 bytes, got 33554433/);
});
