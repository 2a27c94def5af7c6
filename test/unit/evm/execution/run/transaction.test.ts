/** What keeps a transaction out of a block, rule by rule, and what is next to it and allowed. */
import assert from "node:assert/strict";
import {test} from "node:test";
import type {Transaction} from "../../../../../evm/execution/block/blockTransaction.ts";
import {BlockMismatch} from "../../../../../evm/execution/executionError.ts";
import {forkRules} from "../../../../../evm/execution/rules/forkRules.ts";
import {runTransaction} from "../../../../../evm/execution/run/transaction.ts";
import {Evm} from "../../../../../evm/interpreter/evm.ts";
import {rulesOf} from "../../../../../evm/interpreter/rules.ts";
import {keccak256} from "../../../../../storage/hash/keccak.ts";

const SENDER = new Uint8Array(20).fill(1);
const NOBODY = new Uint8Array(20).fill(2);
const BLOB_HASH = Uint8Array.of(1, ...new Uint8Array(31));
const NONE = new Uint8Array(0);
const DELEGATION = Uint8Array.of(0xef, 1, 0, ...NOBODY);
const BALANCE = 10n ** 18n;
const BLOCK_GAS = 40_000_000n;
const AUTHORIZATION = {chainId: 0n, address: NOBODY, nonce: 0n, yParity: 0n, r: 1n, s: 1n};

const PLAIN: Transaction = {
  ...{type: 2, nonce: 7n, gasLimit: 100_000n, maxFee: 10n, maxPriorityFee: 1n, to: NOBODY},
  ...{value: 5n, data: NONE, accessList: [], maxBlobFee: 0n, blobHashes: [], authorizations: undefined},
  signature: {hash: NONE, isOdd: false, rs: NONE},
};
const BLOB = {type: 3, blobHashes: [BLOB_HASH], maxBlobFee: 1n};

interface Case {
  readonly fork?: string;
  /** Of the sender. */
  readonly code?: Uint8Array;
  readonly sender?: undefined;
  readonly change?: Partial<Transaction>;
}

async function run({fork = "osaka", code = NONE, change = {}, ...rest}: Case) {
  const evm = new Evm();
  evm.moveTo({
    readAccount: address =>
      Buffer.compare(address, SENDER) === 0
        ? {nonce: 7n, balance: BALANCE, codeHash: keccak256(code), hasStorage: false}
        : undefined,
    readSlot: () => NONE,
    readCode: () => code,
    readBlockHash: () => new Uint8Array(32),
  });
  const fees = {chainId: 1n, coinbase: NOBODY, baseFee: 9n, blobBaseFee: 1n};
  const block = {number: 1n, timestamp: 1n, gasLimit: BLOCK_GAS, random: 0n, ...fees};
  const rules = rulesOf(fork);
  assert.ok(rules);
  evm.setBlock(rules, block);
  const sender = "sender" in rest ? undefined : SENDER;
  return runTransaction(evm, {...PLAIN, ...change}, sender, {rules: forkRules(fork), ...fees}, BLOCK_GAS);
}

const ALLOWED: readonly Case[] = [
  {},
  {change: {maxFee: 9n}},
  {change: {gasLimit: 2n ** 24n}},
  {fork: "prague", change: {gasLimit: BLOCK_GAS}},
  {change: {gasLimit: 21_000n}},
  {change: {value: BALANCE - 100_000n * 10n}},
  {code: DELEGATION},
  {change: {to: undefined, data: new Uint8Array(49_152), gasLimit: 2n ** 22n}},
  {fork: "paris", change: {to: undefined, data: new Uint8Array(49_153), gasLimit: 2n ** 22n}},
  {change: {...BLOB, blobHashes: Array(6).fill(BLOB_HASH)}},
  {fork: "prague", change: {...BLOB, blobHashes: Array(7).fill(BLOB_HASH)}},
  {change: {type: 4, authorizations: [AUTHORIZATION]}},
  // EIP-7623: 10 gas for each of four tokens.
  {change: {data: Uint8Array.of(1), gasLimit: 21_040n}},
];

const REFUSED: readonly (readonly [Case, RegExp])[] = [
  [{sender: undefined}, /signature/],
  [
    {fork: "prague", change: {gasLimit: BLOCK_GAS + 1n}},
    /its gas limit is 40000001, the block has 40000000 left/,
  ],
  [{change: {gasLimit: 2n ** 24n + 1n}}, /EIP-7825/],
  [{change: {gasLimit: 20_999n}}, /limit is 20999, it needs at least 21000/],
  [{change: {data: Uint8Array.of(1), gasLimit: 21_039n}}, /limit is 21039, it needs at least 21040/],
  [{change: {nonce: 6n}}, /its nonce is 6, the sender's next nonce is 7/],
  [{change: {nonce: 8n}}, /its nonce is 8, the sender's next nonce is 7/],
  [{change: {nonce: 2n ** 64n - 1n}}, /too large/],
  [{change: {maxFee: 8n}}, /base fee/],
  [{change: {maxPriorityFee: 11n}}, /priority fee/],
  [{change: {maxFee: 2n ** 255n, gasLimit: 21_000n}}, /2\^256/],
  [
    {change: {value: BALANCE - 100_000n * 10n + 1n}},
    /it needs up to \d+ wei, its sender 0x[0-9a-f]{40} has \d+$/,
  ],
  [
    {change: {...BLOB, value: BALANCE - 100_000n * 10n - 131_072n + 1n}},
    /it needs up to \d+ wei, its sender 0x[0-9a-f]{40} has \d+$/,
  ],
  [{code: Uint8Array.of(0)}, /EIP-3607/],
  [{fork: "cancun", code: DELEGATION}, /EIP-3607/],
  [{code: Uint8Array.of(...DELEGATION, 0)}, /EIP-3607/],
  [{change: {to: undefined, data: new Uint8Array(49_153), gasLimit: 2n ** 22n}}, /init code/],
  [{change: {...BLOB, to: undefined}}, /creates no contracts/],
  [{change: {...BLOB, blobHashes: []}}, /no blobs/],
  [{change: {...BLOB, blobHashes: Array(7).fill(BLOB_HASH)}}, /too many blobs/],
  [{change: {...BLOB, blobHashes: [new Uint8Array(32)]}}, /version/],
  [{change: {...BLOB, maxBlobFee: 0n}}, /blob base fee/],
  [{change: {type: 4, authorizations: []}}, /no authorizations/],
  [{change: {type: 4, authorizations: [AUTHORIZATION], to: undefined}}, /creates no contracts/],
  [
    {fork: "cancun", change: {type: 4, authorizations: [AUTHORIZATION]}},
    /it has type 4, which its fork does not have/,
  ],
  [{fork: "shanghai", change: BLOB}, /it has type 3, which its fork does not have/],
];

test("what the rules allow runs", async () => {
  for (const [at, one] of ALLOWED.entries()) await assert.doesNotReject(run(one), `case ${at}`);
});

test("what they do not allow is named", async () => {
  for (const [one, message] of REFUSED)
    await assert.rejects(run(one), error => {
      assert.ok(error instanceof BlockMismatch, String(error));
      assert.match(error.message, message);
      return true;
    });
});
