/** Law: every forgery of every class is refused. integration/contracts asks the contracts about a sample of them. */
import assert from "node:assert/strict";
import {after, test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import {verifyMultiProof} from "../../client/compact/multiProof.ts";
import {createSha256Suite} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {verifyProof} from "../../client/proof/proofVerifier.ts";
import {COMPACT_REQUESTS} from "../support/reference/compactCases.ts";
import {forgeTexts} from "../support/reference/forgedTexts.ts";
import {FORGERY_CLASSES, type ForgeryClass, ForgerySource} from "../support/reference/forgeryClasses.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";

const suite = memoiseSuite(createSha256Suite(asSha256));
const source = new ForgerySource(suite);
const CLASSES = Object.keys(FORGERY_CLASSES) as ForgeryClass[];
const refused = new Map<string, number>();

after(() => {
  const total = [...refused.values()].reduce((sum, count) => sum + count, 0);
  assert.ok(total >= 20_000, `${total} forgeries in ${refused.size} classes`);
});

for (const name of CLASSES)
  test(`forgeries by ${name} are refused`, () => {
    let count = 0;
    for (const {root, request, bytes} of source.forge(name)) {
      assert.throws(() => verifyMultiProof(suite, root, request, bytes), ProofError, `forgery ${count}`);
      count++;
    }
    assert.ok(count > 0, "no forgery of this class");
    refused.set(name, count);
  });

test("forgeries of single proofs by non-canonical hex are refused", () => {
  const {state} = source.cases;
  const root = state.stateRoot(state.latest);
  let count = 0;
  for (const name of ["answer", "absent"] as const) {
    const [{address, storageKeys}] = COMPACT_REQUESTS[name];
    const answer = state.prove(state.latest, address, storageKeys);
    verifyProof(suite, root, address, storageKeys, answer);
    for (const forged of forgeTexts(answer)) {
      const verify = () => verifyProof(suite, root, address, storageKeys, forged);
      assert.throws(verify, ProofError, JSON.stringify(forged));
      count++;
    }
  }
  assert.ok(count > 0, "no forgery of this class");
  refused.set("non-canonical hex", count);
});

test("of the 256 values of each byte before the siblings, the proof has the only one that is accepted", () => {
  const {root, request, bytes} = source.cases.prove("plain");
  let count = 0;
  for (let at = 0; at < 34; at++)
    for (let value = 0; value < 256; value++) {
      const verify = () => verifyMultiProof(suite, root, request, bytes.with(at, value));
      if (value === bytes[at]) {
        verify();
        continue;
      }
      assert.throws(verify, ProofError, `byte ${at} is ${value}`);
      count++;
    }
  refused.set("any value of a byte", count);
});
