/** The vectors of our own in test/fixtures. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {test} from "node:test";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {HASH_SUITES} from "../../../../client/hash/hashSuites.ts";
import {isCompiledAsRecorded} from "../../../support/contracts/compiledRecord.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";
import {fixturePath} from "../../../support/reference/fixtures.ts";
import {makeContracts} from "../../../support/reference/ownFixtures.ts";
import {readVectors} from "../../../support/reference/ownVectors.ts";
import type {ProofVectors} from "../../../support/reference/proofVectors.ts";

test("the contracts in test/fixtures/own are what ownFixtures.js writes", async () => {
  if (isCompiledAsRecorded()) return;
  for (const [name, text] of await makeContracts())
    assert.equal(readFileSync(fixturePath(name), "utf8"), text, name);
});

for (const suite of HASH_SUITES)
  test(`${suite.name}: the verifier accepts every proof of the fixtures, and says what the blocks hold`, () => {
    const {suite: name, blocks, proofs} = readVectors<ProofVectors>("proofs", suite.name);
    assert.equal(name, suite.name);
    const proven = proofs.map(({what, block, address, keys, result}) => {
      const root = decodeHex(blocks[block]?.stateRoot ?? "");
      const {account, slots} = verifyProof(suite, root, address, keys, result);
      return [what, account && [account.nonce, account.balance, account.codeSize], slots];
    });
    assert.deepEqual(proven, [
      ["a contract with a slot that it has and one that it has lost", [1n, 100n, 5n], [12n, undefined]],
      ["an account without code and slots", [7n, 10n ** 18n, 0n], []],
      ["an empty account, whose storage is a new tree", [0n, 0n, 0n], [undefined]],
      ["an absent account: its slots are shown absent from a new tree", undefined, [undefined]],
      ["an account that was deleted", undefined, []],
    ]);
  });
