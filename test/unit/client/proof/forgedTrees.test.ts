/** Trees that fold to their root and yet break a rule: the verifier refuses what they prove. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {compact, verifyCompact} from "../../../../client/compact/compactProof.ts";
import {hashWord, sha256Suite, word} from "../../../../client/hash/hashSuites.ts";
import {checkAbsence} from "../../../../client/proof/keyProof.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {verifyProof} from "../../../support/reference/exactProof.ts";
import {forgeTrees, HELD, PRESENT, proveTree} from "../../../support/reference/forgedTrees.ts";
import {complaintOf} from "../../../support/reference/forgeries.ts";
import {type AbsenceProof, ReferenceTree} from "../../../support/reference/referenceTree.ts";

/** An account tree in which PRESENT has this storage. */
function forge(storage: ReferenceTree) {
  const suite = sha256Suite;
  const tree = ReferenceTree.create(suite);
  const value = Buffer.concat([word(1), word(2), storage.topRoot(), word(3), word(4), word(5)]);
  const hVal = suite.hashAccountValue(value);
  const hKey = suite.hashAddress(decodeHex(PRESENT));
  tree.put(hKey, hVal, value);
  return {root: tree.topRoot(), accountProof: tree.prove(PRESENT, hKey)};
}

test("a slot that is stored as zero is refused, though every node folds to the root", () => {
  const storage = ReferenceTree.create(sha256Suite);
  const hKey = hashWord(sha256Suite, 1n);
  storage.put(hKey, hashWord(sha256Suite, 0n), word(0));
  const {root, accountProof} = forge(storage);
  const storageProofs = [storage.prove(encodeHex(word(1)), hKey)];
  assert.throws(
    () => verifyProof(sha256Suite, root, PRESENT, ["0x1"], {accountProof, storageProofs}),
    /stored as zero/,
  );
});

test("the leaf of head or tail is refused as a key's own", () => {
  const storage = ReferenceTree.create(sha256Suite);
  const {root, accountProof} = forge(storage);
  const key = encodeHex(word(1));
  const {leftProof, rightProof} = storage.prove(key, hashWord(sha256Suite, 1n)) as AbsenceProof;
  for (const [leafIndex, proof] of [leftProof, rightProof].entries())
    assert.throws(
      () =>
        verifyProof(sha256Suite, root, PRESENT, ["0x1"], {
          accountProof,
          storageProofs: [{key, leafIndex, proof}],
        }),
      /storageProofs\[0\]\.leafIndex: head or tail is named as the leaf of a key/,
    );
});

test("absence is refused where the two leaves do not enclose the key, or a link names any leaf but the other one", () => {
  const [hKey, low, high] = [word(5), word(4), word(6)];
  const left = {leafIndex: 7, prev: 0, next: 9, hKey: low, hVal: low};
  const right = {leafIndex: 9, prev: 7, next: 1, hKey: high, hVal: high};
  const at = {left: "left", right: "right"};
  checkAbsence(hKey, left, right, at);
  for (const other of [hKey, high])
    assert.throws(() => checkAbsence(hKey, {...left, hKey: other}, right, at), /left leaf is not below/);
  for (const other of [hKey, low])
    assert.throws(() => checkAbsence(hKey, left, {...right, hKey: other}, at), /right leaf is not above/);
  for (const other of [0, 6, 8, 10]) {
    assert.throws(() => checkAbsence(hKey, {...left, next: other}, right, at), /next of the left leaf/);
    assert.throws(() => checkAbsence(hKey, left, {...right, prev: other}, at), /prev of the right leaf/);
  }
});

/** What is said of trees that fold to their root. */
const RULES = [
  /leaf index is not below nextFreeNode/,
  /a sibling leaf lies at or beyond nextFreeNode/,
  /prev is not below nextFreeNode/,
  /next is not below nextFreeNode/,
  ...[0, 40, 41].map(node => new RegExp(`proofRelatedNodes\\[${node}\\]: a position is beyond 40 bits`)),
  ...[160, 224].map(length => new RegExp(`value: expected 192 bytes, got ${length}`)),
  /proof: hVal of head or tail is not zero/,
  ...["left", "right"].flatMap(side => [
    new RegExp(`${side}Proof: hVal of head or tail is not zero`),
    new RegExp(`${side}Proof.value: of head or tail is not 32 zero bytes`),
    new RegExp(`${side}Proof: hKey of head or tail is wrong`),
    new RegExp(`${side}Proof: the list continues beyond head or tail`),
  ]),
  /prev of the right leaf is not the left leaf/,
  /next of the left leaf is not the right leaf/,
];

test("trees that break one rule are refused though every node folds to the root, also in compact form", () => {
  const suite = sha256Suite;
  const request = {address: PRESENT, storageKeys: []};
  const said: string[] = [];
  for (const {name, isShownOnly, root, answer} of forgeTrees()) {
    said.push(complaintOf(() => verifyProof(suite, root, PRESENT, [], answer)));
    const verify = () => verifyCompact(suite, root, request, compact(suite, request, answer));
    if (isShownOnly) assert.equal(verify().account, undefined, name);
    else assert.throws(verify, ProofError, name);
  }
  assert.deepEqual(
    RULES.filter(rule => !said.some(message => rule.test(message))),
    [],
  );
});

test("the forged tree with nothing wrong is accepted, so the forgeries fail for their flaw alone", () => {
  const {root, answer} = proveTree(3, HELD, 2);
  assert.equal(verifyProof(sha256Suite, root, PRESENT, [], answer).account?.leafIndex, 2);
});

test("a full tree, whose nextFreeNode is 2^40, is accepted", () => {
  const {root, answer} = proveTree(2 ** 40, HELD, 2);
  assert.equal(verifyProof(sha256Suite, root, PRESENT, [], answer).account?.leafIndex, 2);
});
