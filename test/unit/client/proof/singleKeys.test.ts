/** One entry of an answer alone: an account that exists, a slot that has a value, an account or a slot that is not there. */
import assert from "node:assert/strict";
import {test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import {decodeHex} from "../../../../client/bytes/hex.ts";
import {createSha256Suite, poseidon2Suite} from "../../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {verifyAbsence, verifyAccount, verifySlot} from "../../../../client/proof/proofVerifier.ts";
import {COMPACT_REQUESTS, CompactCases} from "../../../support/reference/compactCases.ts";

for (const suite of [createSha256Suite(asSha256), poseidon2Suite]) {
  const {state} = new CompactCases(suite);
  const root = state.stateRoot(state.latest);
  const [{address, storageKeys}] = COMPACT_REQUESTS.slots;
  const [present, , absent] = storageKeys as [string, string, string];
  const {accountProof, storageProofs} = state.prove(state.latest, address, [present, absent]);
  const [presentProof, absentProof] = storageProofs;
  const [{address: deleted}] = COMPACT_REQUESTS.absent;
  const {accountProof: deletedProof} = state.prove(state.latest, deleted, []);
  const account = verifyAccount(suite, root, address, accountProof);
  const storageRoot = decodeHex(account.storageRoot);

  test(`${suite.name}: an account that exists is proven, and is not absent`, () => {
    assert.equal(account.nonce, 7n);
    assert.throws(
      () => verifyAbsence(suite, root, {address}, accountProof),
      /^ProofError: accountProof: proves that the key exists$/,
    );
  });

  test(`${suite.name}: an account that does not exist is absent, and is not proven`, () => {
    verifyAbsence(suite, root, {address: deleted}, deletedProof);
    assert.throws(
      () => verifyAccount(suite, root, deleted, deletedProof),
      /^ProofError: accountProof: proves that the account is absent$/,
    );
  });

  test(`${suite.name}: a slot that has a value is proven, and is not absent`, () => {
    assert.equal(verifySlot(suite, storageRoot, present, presentProof), 16n);
    assert.throws(
      () => verifyAbsence(suite, storageRoot, {slot: present}, presentProof),
      /^ProofError: storageProof: proves that the key exists$/,
    );
  });

  test(`${suite.name}: a slot that is zero is absent, and is not proven`, () => {
    verifyAbsence(suite, storageRoot, {slot: absent}, absentProof);
    assert.throws(
      () => verifySlot(suite, storageRoot, absent, absentProof),
      /^ProofError: storageProof: proves that the slot is absent$/,
    );
  });

  test(`${suite.name}: the absence of another key, or under another root, is not proven`, () => {
    assert.throws(() => verifyAbsence(suite, root, {address}, deletedProof), ProofError);
    assert.throws(() => verifyAbsence(suite, storageRoot, {slot: present}, absentProof), ProofError);
    assert.throws(() => verifyAbsence(suite, root, {slot: absent}, absentProof), /trusted root/);
    assert.throws(() => verifyAbsence(suite, storageRoot, {address: deleted}, deletedProof), /trusted root/);
  });
}
