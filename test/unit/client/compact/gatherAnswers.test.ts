/** Answers of chain_getProof from which no proof bytes are made, though nothing is verified, and the smallest from which they are. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {encodeHex} from "../../../../client/bytes/hex.ts";
import {compactAnswers, compactSlots, verifySlots} from "../../../../client/compact/compactProof.ts";
import {hashWord, sha256Suite, word} from "../../../../client/hash/hashSuites.ts";
import type {ProofRequest} from "../../../../client/proof/request.ts";
import {COMPACT_REQUESTS, CompactCases} from "../../../support/reference/compactCases.ts";
import {ReferenceTree} from "../../../support/reference/referenceTree.ts";

const suite = sha256Suite;
const cases = new CompactCases(suite);
const {state} = cases;
const keyOf = (slot: bigint) => encodeHex(word(slot));

/** A storage tree in which slots 1 to `count` have a value. */
function storageOf(count: number): ReferenceTree {
  const tree = ReferenceTree.create(suite);
  for (let slot = 1n; slot <= count; slot++) tree.put(hashWord(suite, slot), hashWord(suite, 5n), word(5));
  return tree;
}

function prove(tree: ReferenceTree, slot: bigint) {
  return tree.prove(keyOf(slot), hashWord(suite, slot));
}

test("there is an answer for each entry, all of one block as far as they show it", () => {
  const request: readonly ProofRequest[] = COMPACT_REQUESTS.twice;
  const answerAt = (block: number) => state.prove(block, COMPACT_REQUESTS.contract[0].address, []);
  assert.doesNotThrow(() => compactAnswers(suite, request, [answerAt(1), answerAt(1)]));
  assert.throws(() => compactAnswers(suite, request, [answerAt(1)]), /answers: expected 2 elements, got 1/);
  assert.throws(
    () => compactAnswers(suite, request, [answerAt(0), answerAt(1)]),
    /the answers have two leaves at \d+/,
  );
  const [small, large] = [storageOf(1), storageOf(2)];
  assert.throws(
    () => compactSlots(suite, ["0x1", "0x2"], [prove(small, 1n), prove(large, 2n)]),
    /the answers are of several trees/,
  );
});

test("the two leaves of an absent slot are of one tree", () => {
  const [small, large] = [prove(storageOf(0), 9n), prove(storageOf(1), 9n)];
  assert.ok("leftProof" in small && "leftProof" in large);
  const mixed = {...large, leftProof: small.leftProof, leftLeafIndex: small.leftLeafIndex};
  assert.throws(
    () => compactSlots(suite, ["0x9"], [mixed]),
    /storageProofs\[0\]: its leaves are of two trees/,
  );
});

test("a slot is absent from a new tree, and from one whose only slot is another", () => {
  for (const count of [0, 1]) {
    const tree = storageOf(count);
    const bytes = compactSlots(suite, ["0x9"], [prove(tree, 9n)]);
    assert.deepEqual(verifySlots(suite, tree.topRoot(), ["0x9"], bytes), [undefined]);
  }
  assert.throws(() => compactSlots(suite, [], []), /storageTree: no keys/);
});
