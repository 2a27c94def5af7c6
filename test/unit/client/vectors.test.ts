/** The client says of every vector in test/fixtures/own/verifier-*.json what it expects. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {verifyMultiProof, verifySlots} from "../../../client/compact/compactProof.ts";
import {HASH_SUITES, type HashSuite} from "../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../client/proof/proofError.ts";
import {type Proven, verifyProof} from "../../../client/proof/proofVerifier.ts";
import type {ProofRequest} from "../../../client/proof/request.ts";
import {readFixture} from "../../support/reference/fixtures.ts";
import {applyEdits} from "../../support/reference/jsonPath.ts";
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

for (const suite of HASH_SUITES) {
  const {vectors} = readFixture<VerifierVectors>(`own/verifier-${suite.name}`);
  const proofs = new Map(vectors.map(({what, proof}) => [what, proof]));
  for (const vector of vectors) {
    const {what, forgeryOf, edits, expect} = vector;
    const proof = forgeryOf === undefined ? vector.proof : applyEdits(proofs.get(forgeryOf), edits ?? []);
    if (expect === "refused")
      test(`${suite.name}: ${what} is refused`, () => {
        assert.throws(() => prove(suite, vector, proof), ProofError);
      });
    else
      test(`${suite.name}: ${what} proves what the vector expects`, () => {
        assert.deepEqual(expectEntries(prove(suite, vector, proof)), expect);
      });
  }
}
