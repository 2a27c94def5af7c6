/** Law: every forgery of every class is refused. integration/contracts asks the contracts about a sample of them. */
import assert from "node:assert/strict";
import {after, test} from "node:test";
import * as asSha256 from "@chainsafe/as-sha256";
import {decodeMultiProof, verifyMultiProof} from "../../client/compact/multiProof.ts";
import {createSha256Suite} from "../../client/hash/hashSuites.ts";
import {ProofError} from "../../client/proof/proofError.ts";
import {COMPACT_REQUESTS, type CompactRequestName} from "../support/reference/compactCases.ts";
import {forgeTexts} from "../support/reference/forgedTexts.ts";
import {FORGERY_CLASSES, type ForgeryClass, ForgerySource} from "../support/reference/forgeryClasses.ts";
import {memoiseSuite} from "../support/reference/memoisedSuite.ts";

const suite = memoiseSuite(createSha256Suite(asSha256));
const source = new ForgerySource(suite);
const CLASSES = Object.keys(FORGERY_CLASSES) as ForgeryClass[];
const NAMES = Object.keys(COMPACT_REQUESTS) as CompactRequestName[];
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

test("forgeries by non-canonical hex are refused", () => {
  let count = 0;
  for (const name of NAMES) {
    const {root, request, bytes} = source.cases.prove(name);
    const json = decodeMultiProof(suite, request, bytes);
    verifyMultiProof(suite, root, request, json);
    for (const forged of forgeTexts(json)) {
      assert.throws(() => verifyMultiProof(suite, root, request, forged), ProofError, JSON.stringify(forged));
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
