/** The parts of the proof explorer that need no browser. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as AbiFunction from "ox/AbiFunction";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {compact} from "../../../client/compact/compactProof.ts";
import {openAnswer} from "../../../client/compact/openedPaths.ts";
import {poseidon2Suite, sha256Suite} from "../../../client/hash/hashSuites.ts";
import {encodeVerifierCall} from "../../../page/explorer/calldata.ts";
import {FieldProblem, readFields} from "../../../page/explorer/fields.ts";
import {followPath} from "../../../page/explorer/pathSteps.ts";
import {writeCurl} from "../../../page/explorer/snippets.ts";
import {readArtefact} from "../../support/contracts/readArtefact.ts";
import {readVectors} from "../../support/reference/ownVectors.ts";
import type {ProofVectors} from "../../support/reference/proofVectors.ts";

const ADDRESS = `0x${"aB".repeat(20)}`;
const TEXTS = {address: ADDRESS, slots: "", block: "finalized", root: ""};

test("fields are read in any case and base", () => {
  const root = `0x${"CD".repeat(32)}`;
  const asked = readFields({address: ` ${ADDRESS} `, slots: "0x0A, 16\n0x0", block: "0x10", root});
  const storageKeys = ["0x0a", "0x10", "0x0"];
  const expected = {address: ADDRESS.toLowerCase(), storageKeys, block: 16n, root: root.toLowerCase()};
  assert.deepEqual(asked, expected);
  assert.equal(readFields(TEXTS).root, undefined);
});

test("a field of another form is refused by its name, with what came", () => {
  const wrong = [
    {address: ""},
    {address: `${ADDRESS}0`},
    {slots: "0x"},
    {slots: String(2n ** 256n)},
    {slots: "1 ".repeat(65)},
    {block: "pending"},
    {block: "-1"},
    {root: "0x12"},
  ];
  for (const texts of wrong) {
    const [[field, text]] = Object.entries(texts) as [[string, string]];
    assert.throws(
      () => readFields({...TEXTS, ...texts}),
      (error: Error) =>
        error instanceof FieldProblem && error.field === field && /^Expected .*, got /.test(error.message),
      text,
    );
  }
});

test("every leaf's path folds to the root of its tree, and siblings beyond its last leaf are empty", () => {
  for (const suite of [sha256Suite, poseidon2Suite]) {
    const {blocks, proofs} = readVectors<ProofVectors>("proofs", suite.name);
    for (const {block, address, keys, result} of proofs) {
      const {account} = openAnswer(suite, {address, storageKeys: keys}, result);
      const leaves = "leaf" in account ? [account.leaf] : [account.left, account.right];
      for (const leaf of leaves) {
        const {steps, root} = followPath(suite, leaf, account.nextFreeNode);
        assert.equal(root, blocks[block]?.stateRoot);
        assert.deepEqual(
          steps.map(({height}) => height),
          Array.from({length: 40}, (_, i) => 39 - i),
        );
        for (const {height, isEmpty, side} of steps) {
          const isOdd = Math.floor(leaf.leafIndex / 2 ** height) % 2 === 1;
          assert.equal(side, isOdd ? "left" : "right");
          const begin = (Math.floor(leaf.leafIndex / 2 ** height) + (isOdd ? -1 : 1)) * 2 ** height;
          assert.ok(isEmpty || begin < account.nextFreeNode);
        }
      }
    }
  }
});

test("calldata for the verifier is what its ABI says", () => {
  const {abi} = readArtefact("Sha256ProofVerifier");
  const {blocks, proofs} = readVectors<ProofVectors>("proofs", "sha256");
  for (const {block, address, keys, result} of proofs) {
    const root = blocks[block]?.stateRoot as string;
    const request = {address, storageKeys: keys};
    const proof = encodeHex(compact(sha256Suite, request, result));
    const name = keys.length === 0 ? "verifyAccount" : "verifySlots";
    const method = AbiFunction.fromAbi(abi as never, name as never);
    const values = keys.length === 0 ? [root, address, proof] : [root, address, keys, proof];
    const {signature, calldata} = encodeVerifierCall(sha256Suite, root, request, result);
    assert.equal(calldata, AbiFunction.encodeData(method, values as never));
    assert.ok(signature.startsWith(`${name}(`) && decodeHex(calldata).length % 32 === 4);
  }
});

test("the text for a shell survives a quote", () => {
  const text = writeCurl("http://host/it's", {address: ADDRESS, storageKeys: []}, 5n);
  assert.match(text, /^curl -s 'http:\/\/host\/it'\\''s' /);
});
