/** Proofs of eth_getProof: what a trie of our own proves is accepted, and nothing that differs from it. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {createMerkleProof, createMPT, type MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../client/hash/hashSuites.ts";
import {verifyEstimate} from "../../../../load/verification/verifyEstimate.ts";
import {verifyEthProof} from "../../../../load/verification/verifyEth.ts";
import {listPlaces, readAt, writeAt} from "../../../support/reference/jsonPath.ts";

const ADDRESS = `0x${"11".repeat(20)}`;
const PLAIN = `0x${"22".repeat(20)}`;
const ABSENT = `0x${"33".repeat(20)}`;
const EMPTY_TRIE = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
const EMPTY_CODE = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

let state: MerklePatriciaTrie;
let storage: MerklePatriciaTrie;
let root: string;

before(async () => {
  storage = await createMPT({useKeyHashing: true});
  for (let slot = 0; slot < 20; slot++) await storage.put(word(slot), RLP.encode(slot + 500));
  state = await createMPT({useKeyHashing: true});
  const account = (nonce: number, storageRoot: Uint8Array) =>
    RLP.encode([nonce, 1_000_000 + nonce, storageRoot, decodeHex(EMPTY_CODE)]);
  await state.put(decodeHex(ADDRESS), account(7, storage.root()));
  await state.put(decodeHex(PLAIN), account(0, decodeHex(EMPTY_TRIE)));
  for (let i = 0; i < 50; i++) await state.put(word(i).subarray(12), account(i, decodeHex(EMPTY_TRIE)));
  root = encodeHex(state.root());
});

async function prove(trie: MerklePatriciaTrie, key: Uint8Array): Promise<string[]> {
  return (await createMerkleProof(trie, key)).map(encodeHex);
}

async function proveAccount() {
  return {
    address: ADDRESS,
    accountProof: await prove(state, decodeHex(ADDRESS)),
    balance: "0xf4247",
    codeHash: EMPTY_CODE,
    nonce: "0x7",
    storageHash: encodeHex(storage.root()),
    storageProof: [
      {key: "0x3", value: "0x1f7", proof: await prove(storage, word(3))},
      {key: encodeHex(word(99)), value: "0x0", proof: await prove(storage, word(99))},
    ],
  };
}

test("what the trie proves is accepted", async () => {
  await verifyEthProof([root], ADDRESS, ["0x3", "0x63"], await proveAccount());
});

test("an answer with any text changed is refused", async () => {
  const valid = await proveAccount();
  for (const path of listPlaces(valid)) {
    const spoiled = structuredClone(valid);
    const here = readAt(spoiled, path);
    if (typeof here === "object") continue;
    const text = String(here);
    // The echo of a slot may be of any length: a digit before it would be another key.
    const last = text.endsWith("1") ? "2" : "1";
    writeAt(spoiled, path, text.slice(0, -1) + last);
    await assert.rejects(verifyEthProof([root], ADDRESS, ["0x3", "0x63"], spoiled), path.join("."));
  }
  await assert.rejects(
    verifyEthProof([`0x${"00".repeat(32)}`], ADDRESS, ["0x3", "0x63"], valid),
    /not the block's/,
  );
  await assert.rejects(verifyEthProof([root], PLAIN, ["0x3", "0x63"], valid), /address/);
  await assert.rejects(verifyEthProof([root], ADDRESS, ["0x3"], valid), /one entry for each of 1 slots/);
  await assert.rejects(verifyEthProof([root], ADDRESS, [], null), /address/);
});

test("absent accounts and empty storage are accepted as geth and as anvil show them", async () => {
  const empty = {balance: "0x0", nonce: "0x0", codeHash: EMPTY_CODE, storageHash: EMPTY_TRIE};
  const accountProof = await prove(state, decodeHex(ABSENT));
  for (const proof of [[], ["0x80"]]) {
    const storageProof = [{key: "0x1", value: "0x0", proof}];
    await verifyEthProof([root], ABSENT, ["0x1"], {address: ABSENT, accountProof, ...empty, storageProof});
    const plain = {
      address: PLAIN,
      accountProof: await prove(state, decodeHex(PLAIN)),
      ...empty,
      balance: "0xf4240",
      storageProof,
    };
    await verifyEthProof([root], PLAIN, ["0x1"], plain);
    const richer = {...plain, storageProof: [{key: "0x1", value: "0x5", proof}]};
    await assert.rejects(verifyEthProof([root], PLAIN, ["0x1"], richer), /value: 0 is proved/);
  }
  const rich = {address: ABSENT, accountProof, ...empty, balance: "0x1", storageProof: []};
  await assert.rejects(verifyEthProof([root], ABSENT, [], rich), /proved absent/);
});

test("an estimate has the fields and quantities of its method, and is not below a transfer's gas", () => {
  const estimate = {baseFeePerGas: "0x7", gasLimit: "0x5208", priorityFeePerGas: "0x0"};
  verifyEstimate("chain", estimate);
  verifyEstimate("eth", "0x5208");
  assert.throws(() => verifyEstimate("chain", {...estimate, extra: "0x1"}), /expected the fields baseFee/);
  assert.throws(() => verifyEstimate("chain", {...estimate, gasLimit: "0x1"}), /gasLimit: .* got 1$/);
  assert.throws(
    () => verifyEstimate("chain", {...estimate, baseFeePerGas: 7}),
    /baseFeePerGas: expected a quantity, got 7/,
  );
  assert.throws(() => verifyEstimate("chain", null), /expected the fields baseFee/);
  assert.throws(() => verifyEstimate("eth", "0x05208"), /expected a quantity/);
  assert.throws(() => verifyEstimate("eth", "0x5207"), /got 20999$/);
});
