/** The client says of every vector of kinds verifier, leaves and changes what it expects. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {verifyMultiProof, verifySlots} from "../../../client/compact/compactProof.ts";
import {HASH_SUITES, type HashSuite, word} from "../../../client/hash/hashSuites.ts";
import {verifyChanges} from "../../../client/leaves/changeRange.ts";
import type {LeafChange} from "../../../client/leaves/foldChanges.ts";
import {verifyLeaves} from "../../../client/leaves/leafRange.ts";
import type {KeyedLeaf, TreeLeaf} from "../../../client/leaves/treeLeaf.ts";
import {encodeAccount} from "../../../client/proof/account.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {type Proven, verifyProof} from "../../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import type {ChangeVectors, ExpectedChange} from "../../support/reference/changeVectors.ts";
import {applyEdits} from "../../support/reference/jsonPath.ts";
import {readVectors} from "../../support/reference/ownVectors.ts";
import type {ExpectedLeaf, RangeVectors} from "../../support/reference/rangeVectors.ts";
import {
  expectEntries,
  type VerifierVector,
  type VerifierVectors,
} from "../../support/reference/verifierVectors.ts";

function prove(
  suite: HashSuite,
  {form, root: rootHex, request}: VerifierVector,
  proof: unknown,
): readonly Proven[] {
  const root = decodeHex(rootHex);
  const [{storageKeys}] = request as [VerifierVector["request"][number]];
  if (form === "slots")
    return [{account: undefined, slots: verifySlots(suite, root, storageKeys, decodeHex(proof))}];
  const entries = request as readonly ProofRequest[];
  if (form === "answer") return [verifyProof(suite, root, entries[0]?.address ?? "", storageKeys, proof)];
  return verifyMultiProof(suite, root, entries, decodeHex(proof));
}

/** @param prove - what the vector is about. @param expected - what it proves, or "refused" */
function check(what: string, prove: () => unknown, expected: unknown): void {
  if (expected === "refused") assert.throws(prove, ProofError, what);
  else assert.deepEqual(prove(), expected, what);
}

for (const suite of HASH_SUITES)
  test(`${suite.name}: the verifier says of each proof what its vector expects`, () => {
    const {vectors} = readVectors<VerifierVectors>("verifier", suite.name);
    const proofs = new Map(vectors.map(({what, proof}) => [what, proof]));
    for (const vector of vectors) {
      const {what, forgeryOf, edits, expect} = vector;
      const proof = forgeryOf === undefined ? vector.proof : applyEdits(proofs.get(forgeryOf), edits ?? []);
      check(what, () => expectEntries(prove(suite, vector, proof)), expect);
    }
  });

/** The leaf as a vector of leaves shows it. */
function describe(leaf: TreeLeaf): ExpectedLeaf | null {
  if (leaf.role === "removed") return null;
  const {leafIndex, prev, next} = leaf;
  const [hKey, hVal] = [leaf.hKey, leaf.hVal].map(encodeHex) as [string, string];
  const [key, value] =
    leaf.role === "account"
      ? [leaf.address, encodeAccount(leaf.account)]
      : leaf.role === "slot"
        ? [slotText(leaf.slot), word(leaf.value)]
        : [undefined, word(0)];
  return {leafIndex, prev, next, hKey, hVal, key: key ?? null, value: encodeHex(value)};
}

function slotText(slot: bigint): string {
  const digits = slot === 0n ? "" : slot.toString(16);
  return `0x${digits.padStart(digits.length + (digits.length % 2), "0")}`;
}

for (const suite of HASH_SUITES)
  test(`${suite.name}: the verifier says of each range of leaves what its vector expects`, () => {
    const {vectors} = readVectors<RangeVectors>("leaves", suite.name);
    for (const {what, root, request, proof, expect} of vectors) {
      const prove = () => {
        const {nextFreeNode, leaves} = verifyLeaves(suite, decodeHex(root), request, decodeHex(proof));
        return {nextFreeNode, leaves: leaves.map(describe)};
      };
      check(what, prove, expect);
    }
  });

/** The change as a vector of changes shows it. */
function describeChange({before, after}: LeafChange<KeyedLeaf>): ExpectedChange {
  return {before: before ? describe(before) : null, after: after ? describe(after) : null};
}

for (const suite of HASH_SUITES)
  test(`${suite.name}: the verifier says of changes what their vector expects`, () => {
    const {vectors} = readVectors<ChangeVectors>("changes", suite.name);
    for (const {what, fromRoot, toRoot, request, proof, expect} of vectors) {
      const roots = {from: decodeHex(fromRoot), to: decodeHex(toRoot)};
      const asked = {...request, cursor: BigInt(request.cursor)};
      const prove = () => {
        const {accounts, storages, end} = verifyChanges(suite, roots, asked, decodeHex(proof));
        return {
          accounts: accounts.map(describeChange),
          storages: storages.map(({slots, ...one}) => ({...one, slots: slots.map(describeChange)})),
          end: end === undefined ? null : `0x${end.toString(16)}`,
        };
      };
      check(what, prove, expect);
    }
  });
