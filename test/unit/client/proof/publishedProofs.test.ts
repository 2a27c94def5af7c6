/** Published proofs: the reference makes one of them, the verifier accepts both. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {compact, verifyCompact} from "../../../../client/compact/compactProof.ts";
import {hashWord, poseidon2Suite, sha256Suite, word} from "../../../../client/hash/hashSuites.ts";
import {verifyProof} from "../../../../client/proof/proofVerifier.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {readPublicData} from "../../../support/reference/publicData.ts";
import type {ProofResult} from "../../../support/reference/referenceState.ts";
import {ReferenceTree} from "../../../support/reference/referenceTree.ts";

interface ContractProof {
  readonly stateRoot: string;
  readonly address: string;
  readonly slot: string;
  /** Of the response as text without spaces. */
  readonly responseSha256: string;
}

test("the reference makes the published contract proof, and the verifier accepts it", () => {
  const {stateRoot, address, slot, responseSha256} = readFixture<ContractProof>(
    "published/contractProof-poseidon2",
  );
  const suite = poseidon2Suite;
  const tree = ReferenceTree.create(suite);
  const storage = ReferenceTree.create(suite);
  storage.put(hashWord(suite, BigInt(slot)), hashWord(suite, 0x12n << 248n), word(0x12n << 248n));
  const first = "0x2400000000000000000000000000000000000000";
  const emptyCodeHash = decodeHex("0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc");
  const emptyKeccak = decodeHex("0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
  const values: [string, Uint8Array[]][] = [
    [
      first,
      [word(65), word(835), ReferenceTree.create(suite).topRoot(), emptyCodeHash, emptyKeccak, word(0)],
    ],
    [address, [word(41), word(15353), storage.topRoot(), word(0x4b), word(0x0fn << 248n), word(7)]],
  ];
  for (const [key, words] of values)
    tree.put(
      suite.hashAddress(decodeHex(key)),
      suite.hashAccountValue(Buffer.concat(words)),
      Buffer.concat(words),
    );
  const made = {
    accountProof: tree.prove(address, suite.hashAddress(decodeHex(address))),
    storageProofs: [storage.prove(slot, hashWord(suite, BigInt(slot)))],
  };
  assert.equal(encodeHex(sha256Suite.hash(Buffer.from(JSON.stringify(made)))), responseSha256);

  const {account, slots} = verifyProof(suite, decodeHex(stateRoot), address, [slot], made);
  assert.equal(account?.nonce, 41n);
  assert.equal(account?.balance, 15353n);
  assert.deepEqual(slots, [0x12n << 248n]);
});

test("the proof of the live network is accepted, also in compact form, against the root that its layer-1 contract holds", t => {
  const file = readPublicData<{"l1_stateRootHashes[l2BlockNumber]": string; result: ProofResult}>(
    t,
    "proof_mainnet_poseidon2.json",
  );
  if (file === undefined) return;
  const root = decodeHex(file["l1_stateRootHashes[l2BlockNumber]"]);
  const {accountProof, storageProofs} = file.result;
  const keys = storageProofs.map(proof => proof.key);
  // The transcript has the fields of an absence in another order than docs/proofs.md, section 5.
  const proven = verifyProof(poseidon2Suite, root, accountProof.key, keys, {accountProof, storageProofs});
  assert.equal(proven.account?.leafIndex, 279);
  assert.equal(proven.account?.nonce, 1n);
  assert.equal(proven.account?.codeSize, 0x268fn);
  assert.deepEqual(proven.slots, [undefined]);
  const request = {address: accountProof.key, storageKeys: keys};
  const bytes = compact(poseidon2Suite, request, file.result);
  assert.deepEqual(verifyCompact(poseidon2Suite, root, request, bytes), proven);
});
