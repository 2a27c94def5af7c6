/** What entries of a trie log do to an account, and which of them contradict themselves. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeTrieLog} from "../../../../../nodes/blocks/trielogs/trieLog.ts";
import {toDifferences} from "../../../../../nodes/blocks/trielogs/trieLogDifference.ts";
import type {AccountDifference} from "../../../../../storage/block/accountDifference.ts";
import {encodeTrieLog, type RlpItem} from "../../../../support/chains/trieLogWriter.ts";

const NULL = new Uint8Array(0);
const ADDRESS = Buffer.alloc(20, 0xaa);
const CODE = Buffer.from("6001600055", "hex");
const OTHER_CODE = Buffer.from("6002", "hex");
const EMPTY_HASH = keccak_256(NULL);
const ROOT = Buffer.alloc(32, 0x55);
const OTHER_ROOT = Buffer.alloc(32, 0x66);
const PRESENT = {present: true, nonce: 1n, balance: 2n, keccakCodeHash: keccak_256(CODE)};

function word(value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(64, "0"), "hex");
}

/** @param root - the storage root */
function value(nonce: bigint, balance: bigint, code: Uint8Array, root: Uint8Array = NULL): RlpItem {
  return [nonce, balance, root, keccak_256(code)];
}

function slot(key: number, before: bigint, after: bigint, cleared: bigint | Uint8Array = NULL): RlpItem {
  return [keccak_256(word(key)), before, after, cleared, BigInt(key)];
}

function toDifference(code: RlpItem, account: RlpItem, storage: RlpItem): AccountDifference {
  const log = encodeTrieLog([Buffer.alloc(32, 1), 7n, [ADDRESS, code, account, storage]]);
  const differences = toDifferences(decodeTrieLog(log));
  assert.equal(differences.count, 1);
  return differences.at(0);
}

const old = value(1n, 2n, CODE);
const TAKEN: readonly [string, [RlpItem, RlpItem, RlpItem], Omit<AccountDifference, "address">][] = [
  [
    "an account loses its code",
    [[CODE, NULL, NULL], [old, value(1n, 2n, NULL), NULL], NULL],
    {before: PRESENT, change: {reset: false, code: Buffer.from(NULL), storage: []}},
  ],
  [
    "an account is deleted and created again: slots are those of the new one, and the code stays if the log has none",
    [
      NULL,
      [old, value(1n, 5n, CODE, ROOT), 1n],
      [slot(1, 8n, 9n), slot(2, 3n, 0n), [keccak_256(word(4)), 6n, NULL, 1n]],
    ],
    {
      before: PRESENT,
      change: {
        reset: true,
        keepsCode: true,
        nonce: 1n,
        balance: 5n,
        storage: [{slot: word(1), value: word(9)}],
      },
    },
  ],
  [
    "an account is deleted and created again with other code",
    [[NULL, OTHER_CODE, 1n], [old, value(1n, 5n, OTHER_CODE), 1n], NULL],
    {before: PRESENT, change: {reset: true, nonce: 1n, balance: 5n, code: OTHER_CODE, storage: []}},
  ],
  [
    "an account is created, deleted and created again",
    [NULL, [NULL, value(0n, 5n, NULL), 1n], [slot(1, 8n, 9n)]],
    {
      before: {present: false},
      change: {reset: false, nonce: 0n, balance: 5n, storage: [{slot: word(1), value: word(9)}]},
    },
  ],
  [
    "an account is only read",
    [NULL, [value(1n, 2n, CODE, ROOT), value(1n, 2n, CODE, ROOT), NULL], [slot(1, 8n, 8n)]],
    {
      before: PRESENT,
      onlyRead: true,
      change: {reset: false, storage: [{slot: word(1), value: word(8), before: word(8)}]},
    },
  ],
  [
    "a slot is deleted and written again",
    [NULL, [old, value(1n, 2n, CODE, ROOT), NULL], [slot(1, 8n, 8n, 1n)]],
    {
      before: PRESENT,
      change: {reset: false, storage: [{slot: word(1), value: word(8), before: word(8), reset: true}]},
    },
  ],
  [
    "an account without its value keeps nonce and balance, and must be there",
    [[CODE, OTHER_CODE, NULL], NULL, [slot(1, 0n, 8n)]],
    {
      before: {present: true, keccakCodeHash: keccak_256(CODE)},
      change: {
        reset: false,
        code: OTHER_CODE,
        storage: [{slot: word(1), value: word(8), before: word(0)}],
      },
    },
  ],
  [
    "slots that are read as zero may be of an account that is not there",
    [NULL, NULL, [slot(1, 0n, 0n)]],
    {onlyRead: true, change: {reset: false, storage: [{slot: word(1), value: word(0), before: word(0)}]}},
  ],
];

for (const [what, entry, expected] of TAKEN)
  test(what, () => {
    const {address, ...rest} = toDifference(...entry);
    assert.deepEqual(Buffer.from(address), ADDRESS);
    assert.deepEqual(normalise(rest), normalise(expected));
  });

/** Bytes of any class compare by their content. */
function normalise(field: unknown): unknown {
  if (field instanceof Uint8Array) return Buffer.from(field).toString("hex");
  if (Array.isArray(field)) return field.map(normalise);
  if (typeof field !== "object" || field === null) return field;
  return Object.fromEntries(Object.entries(field).map(([name, value]) => [name, normalise(value)]));
}

const REFUSED: readonly (readonly [entry: [RlpItem, RlpItem, RlpItem], message: RegExp])[] = [
  [
    [NULL, [old, old, NULL], [[keccak_256(word(2)), NULL, 1n, NULL, 1n]]],
    /slot 0x0{63}1 does not have the hash 0x[0-9a-f]{64}$/,
  ],
  [
    [NULL, [old, old, NULL], [[keccak_256(word(2)), NULL, 1n, NULL]]],
    /the slot of hash 0x[0-9a-f]{64} has no key\. Was the log written without the Shomei plugin\?$/,
  ],
  [[NULL, [old, old, 1n], [[keccak_256(word(2)), NULL, 1n, NULL]]], /has no key/],
  [
    [[CODE, OTHER_CODE, NULL], [old, value(1n, 2n, CODE), NULL], NULL],
    /expected its new code to have the hash 0x[0-9a-f]{64}, got 0x[0-9a-f]{64}$/,
  ],
  [
    [[OTHER_CODE, CODE, NULL], [old, value(1n, 2n, CODE), NULL], NULL],
    /expected its old code to have the hash 0x[0-9a-f]{64}, got 0x[0-9a-f]{64}$/,
  ],
  [
    [NULL, [old, value(1n, 2n, OTHER_CODE), NULL], NULL],
    /its code changes to 0x[0-9a-f]{64}, but the code is missing$/,
  ],
  [[[CODE, OTHER_CODE, NULL], [old, NULL, 1n], NULL], /expected its new code to have the hash/],
  [
    [NULL, [old, NULL, 1n], [slot(1, 0n, 5n)]],
    /^trie log of block 7: account 0x(?:aa){20} does not exist after the block, but its slot of hash 0x[0-9a-f]{64} is$/,
  ],
  [
    [NULL, [value(1n, 2n, CODE, ROOT), value(1n, 2n, CODE, OTHER_ROOT), NULL], [slot(1, 5n, 5n)]],
    /its storage root changes, but none of its slots does$/,
  ],
];

test("an account that contradicts itself is refused with its block and address", () => {
  for (const [entry, message] of REFUSED)
    assert.throws(
      () => toDifference(...entry),
      (error: Error) => {
        assert.equal(error.name, "SourceError");
        assert.match(error.message, /^trie log of block 7: account 0x(?:aa){20}\b/);
        assert.match(error.message, message);
        return true;
      },
    );
});

test("no code and a storage that was never used may be null", () => {
  const bare: RlpItem = [1n, 2n, NULL, NULL];
  const emptyTrie = Buffer.from("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421", "hex");
  const {before, onlyRead} = toDifference(NULL, [bare, [1n, 2n, emptyTrie, EMPTY_HASH], NULL], NULL);
  assert.deepEqual(normalise(before), normalise({...PRESENT, keccakCodeHash: EMPTY_HASH}));
  assert.equal(onlyRead, true);
});
