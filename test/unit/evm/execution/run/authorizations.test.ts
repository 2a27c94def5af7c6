/** Whose code an authorization sets (EIP-7702), and whose it leaves. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {applyAuthorizations} from "../../../../../evm/execution/run/authorizations.ts";
import {Evm} from "../../../../../evm/interpreter/evm.ts";
import {rulesOf} from "../../../../../evm/interpreter/rules.ts";
import {keccak256} from "../../../../../storage/hash/keccak.ts";
import {toHex} from "../../../../../storage/hex.ts";

const AUTHORITY = new Uint8Array(20).fill(1);
const TARGET = new Uint8Array(20).fill(2);
const NOBODY = new Uint8Array(20).fill(3);
const NONE = new Uint8Array(0);
const delegationTo = (address: Uint8Array) => Uint8Array.of(0xef, 1, 0, ...address);

/** @returns the authority's nonce and code, after one authorization by it; its nonce is 7 before */
function apply(code: Uint8Array, change: object = {}): [bigint, string] {
  const evm = new Evm();
  evm.moveTo({
    readAccount: address =>
      Buffer.compare(address, AUTHORITY) === 0
        ? {nonce: 7n, balance: 1n, codeHash: keccak256(code), hasStorage: false}
        : undefined,
    readSlot: () => NONE,
    readCode: () => code,
    readBlockHash: () => new Uint8Array(32),
  });
  const block = {number: 1n, timestamp: 1n, gasLimit: 30_000_000n, random: 0n, coinbase: NOBODY};
  evm.setBlock(rulesOf("prague") ?? assert.fail(), {...block, chainId: 5n, baseFee: 7n, blobBaseFee: 1n});
  evm.beginTransaction();
  const signed = {chainId: 0n, address: TARGET, nonce: 7n, yParity: 0n, r: 1n, s: 1n, authority: AUTHORITY};
  applyAuthorizations(evm, [{...signed, ...change}], 5n);
  return [evm.readNonce(AUTHORITY), toHex(evm.readCode(AUTHORITY))];
}

test("an account without code delegates, also one that delegated before; the zero address ends that", () => {
  const delegated = [8n, toHex(delegationTo(TARGET))];
  for (const code of [NONE, delegationTo(NOBODY)]) {
    assert.deepEqual(apply(code), delegated);
    assert.deepEqual(apply(code, {chainId: 5n}), delegated);
    assert.deepEqual(apply(code, {address: new Uint8Array(20)}), [8n, "0x"]);
  }
});

test("an account with code of its own is left as it is, and so is one that did not sign for this chain and nonce", () => {
  const codes = [
    Uint8Array.of(0),
    Uint8Array.of(...delegationTo(NOBODY), 0),
    delegationTo(NOBODY).subarray(0, -1),
  ];
  for (const code of codes) assert.deepEqual(apply(code), [7n, toHex(code)]);
  for (const change of [{nonce: 6n}, {nonce: 8n}, {chainId: 6n}, {authority: undefined}])
    assert.deepEqual(apply(NONE, change), [7n, "0x"]);
});
