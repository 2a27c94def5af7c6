/** Published proofs of poseidon2 trees, by the store's own code: one is made again, the live network's folds to its root. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {word} from "../../../../client/hash/hashSuites.ts";
import {poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import {
  type Account,
  encodeAccountValueInto,
  encodeStoredAccount,
  NEW_ACCOUNT,
} from "../../../../storage/tree/account.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {KeyHints} from "../../../../storage/tree/keyHints.ts";
import {writeWordInto} from "../../../../storage/tree/shortNumber.ts";
import {accountTree, storageTree} from "../../../../storage/tree/tree.ts";
import {AnswerText} from "../../../../workers/prove/answerText.ts";
import {ProofText} from "../../../../workers/prove/proofText.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {readPublicData} from "../../../support/reference/publicData.ts";
import type {ProofResult} from "../../../support/reference/referenceState.ts";
import type {AbsenceProof, ExistenceProof, LeafProof} from "../../../support/reference/referenceTree.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

const suite = poseidon2Suite;
const empty = emptyTree(suite);

function encodeValue(account: Account): Uint8Array {
  const value = new Uint8Array(192);
  encodeAccountValueInto(value, 0, account, empty);
  return value;
}

test("the published contract proof is made again from the store's trees, to the byte", () => {
  interface ContractProof {
    readonly stateRoot: string;
    readonly address: string;
    readonly slot: string;
    readonly responseSha256: string;
  }
  const {stateRoot, address, slot, responseSha256} = readFixture<ContractProof>(
    "published/contractProof-poseidon2",
  );
  const pages = new MemoryPages();
  const [slotKey, contractKey] = [suite.hashSlot(decodeHex(slot)), suite.hashAddress(decodeHex(address))];
  const storage = TreeOperations.create(pages, suite);
  storage.put(slotKey, 0x12n << 248n);
  const storageRoot = storage.writer.seal();

  const person: Account = {...NEW_ACCOUNT, nonce: Buffer.of(65), balance: Buffer.from([3, 67])};
  // Its code hashes are made up: no import could bring them.
  const contract: Account = {
    nonce: Buffer.of(41),
    balance: Buffer.from([0x3b, 0xf9]),
    code: {codeHash: word(0x4b), keccakCodeHash: word(0x0fn << 248n), codeSize: 7},
    storage: {storageRoot: storage.writer.topRoot(), tree: storageRoot},
  };
  const accounts = TreeOperations.create(pages, suite);
  const personKey = suite.hashAddress(decodeHex("0x2400000000000000000000000000000000000000"));
  for (const [hKey, account] of [
    [personKey, person],
    [contractKey, contract],
  ] as const) {
    const value = encodeValue(account);
    accounts.write(hKey, suite.hashAccountValue(value), value, encodeStoredAccount(account));
  }
  const root = accounts.writer.seal();
  assert.equal(encodeHex(accounts.writer.topRoot()), stateRoot);

  const source = {pages, hints: new KeyHints(1 << 12)};
  const [proofs, text] = [new ProofText(suite, empty), new AnswerText()];
  text.clear();
  text.text(`{"accountProof":{"key":"${address}",`);
  proofs.write(text, accountTree(source, root), contractKey, out =>
    out.quotedHex(encodeValue(contract), 0, 192),
  );
  text.text(`},"storageProofs":[{"key":"${slot}",`);
  proofs.write(text, storageTree(source, storageRoot, contractKey), slotKey, (out, stored) => {
    const value = new Uint8Array(32);
    writeWordInto(value, 0, stored);
    out.quotedHex(value, 0, 32);
  });
  text.text("}]}");
  const made = createHash("sha256").update(text.take()).digest();
  assert.equal(encodeHex(made), responseSha256);
});

/** @returns the leaf's opening and the top root that the nodes fold to with the store's hashes */
function fold({proofRelatedNodes}: LeafProof, leafIndex: number): {opening: Uint8Array; root: string} {
  const nodes = proofRelatedNodes.map(decodeHex);
  const opening = nodes[41] as Uint8Array;
  let node = suite.hashNode(opening);
  for (let height = 0; height < 40; height++) {
    const preImage = nodes[40 - height] as Uint8Array;
    const sibling = preImage.some(byte => byte !== 0) ? suite.hashNode(preImage) : new Uint8Array(32);
    const isRight = Math.floor(leafIndex / 2 ** height) % 2 === 1;
    const branch = new Uint8Array(32);
    suite.hashPairsInto(Buffer.concat(isRight ? [sibling, node] : [node, sibling]), 1, branch);
    node = branch;
  }
  const rootNode = nodes[0] as Uint8Array;
  assert.equal(encodeHex(node), encodeHex(rootNode.subarray(64)));
  return {opening, root: encodeHex(suite.hashNode(rootNode))};
}

test("the live network's proof folds with the store's hashes to the root that its layer-1 contract holds", t => {
  const file = readPublicData<{"l1_stateRootHashes[l2BlockNumber]": string; result: ProofResult}>(
    t,
    "proof_mainnet_poseidon2.json",
  );
  if (file === undefined) return;
  const {key, leafIndex, proof} = file.result.accountProof as ExistenceProof;
  const value = decodeHex(proof.value);
  const account = fold(proof, leafIndex);
  assert.equal(account.root, file["l1_stateRootHashes[l2BlockNumber]"]);
  assert.equal(
    encodeHex(account.opening.subarray(128)),
    encodeHex(Buffer.concat([suite.hashAddress(decodeHex(key)), suite.hashAccountValue(value)])),
  );
  for (const absence of file.result.storageProofs as AbsenceProof[]) {
    const left = fold(absence.leftProof, absence.leftLeafIndex);
    const right = fold(absence.rightProof, absence.rightLeafIndex);
    const storageRoot = encodeHex(value.subarray(64, 96));
    assert.deepEqual([left.root, right.root], [storageRoot, storageRoot]);
    const hKey = suite.hashSlot(decodeHex(absence.key));
    assert.ok(Buffer.compare(left.opening.subarray(128, 160), hKey) < 0);
    assert.ok(Buffer.compare(hKey, right.opening.subarray(128, 160)) < 0);
    const links = new Uint8Array(128);
    suite.encodeLeafLinksInto(links, 0, 0, absence.rightLeafIndex);
    assert.equal(encodeHex(left.opening.subarray(64, 128)), encodeHex(links.subarray(64)));
    suite.encodeLeafLinksInto(links, 0, absence.leftLeafIndex, 0);
    assert.equal(encodeHex(right.opening.subarray(0, 64)), encodeHex(links.subarray(0, 64)));
  }
});
