/** The JSON of multiproofs: what a spoiled one is refused for. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeMultiProof, encodeMultiProof, verifyMultiProof} from "../../../../client/compact/multiProof.ts";
import {poseidon2Suite, sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {ProofError} from "../../../../client/proof/proofError.ts";
import {CompactCases} from "../../../support/reference/compactCases.ts";
import {SPOILED_MULTIPROOFS, spoilMultiProof} from "../../../support/reference/spoiledMultiProofs.ts";

for (const suite of [sha256Suite, poseidon2Suite]) {
  const cases = new CompactCases(suite);
  const {root, request, bytes} = cases.prove("many");
  const json = decodeMultiProof(suite, request, bytes);

  test(`${suite.name}: the JSON of a multiproof proves what its bytes prove, and gives them back`, () => {
    assert.deepEqual(
      verifyMultiProof(suite, root, request, json),
      verifyMultiProof(suite, root, request, bytes),
    );
    assert.deepEqual(encodeMultiProof(suite, request, json), bytes);
  });

  for (const spoiled of SPOILED_MULTIPROOFS)
    test(`${suite.name}: a multiproof that ${spoiled.name} is refused`, () => {
      const spoiledJson = spoilMultiProof(json, spoiled);
      assert.throws(() => verifyMultiProof(suite, root, request, spoiledJson), spoiled.complaint);
      assert.throws(() => verifyMultiProof(suite, root, request, spoiledJson), ProofError);
    });
}

test("a multiproof for another request, or of no entries, is refused", () => {
  const {root, request, bytes} = new CompactCases(sha256Suite).prove("many");
  const verify = (entries: typeof request) => verifyMultiProof(sha256Suite, root, entries, bytes);
  assert.throws(() => verify([]), /0 entries instead of 1 to 16384/);
  assert.throws(() => verify([...request].reverse()), ProofError);
  assert.throws(() => verify(request.slice(1)), ProofError);
  assert.throws(() => verify([...request, ...request]), ProofError);
});

test("a leaf's number of minus zero is refused", () => {
  const {root, request, bytes} = new CompactCases(sha256Suite).prove("plain");
  const {accountTree} = decodeMultiProof(sha256Suite, request, bytes);
  assert.deepEqual(accountTree.keys, [{leaf: 0}]);
  const json = {accountTree: {...accountTree, keys: [{leaf: -0}]}};
  assert.throws(
    () => verifyMultiProof(sha256Suite, root, request, json),
    /keys\[0\]\.leaf: is not a natural number/,
  );
});

test("a storage part is refused where no slot is asked for", () => {
  const {root, request, bytes} = new CompactCases(sha256Suite).prove("many");
  const json = decodeMultiProof(sha256Suite, request, bytes);
  const withoutSlots = request.map(({address}) => ({address, storageKeys: []}));
  assert.throws(
    () => verifyMultiProof(sha256Suite, root, withoutSlots, json),
    /a storage part, and no slot is asked for/,
  );
});

test("what is no JSON of a multiproof is refused", () => {
  const {root, request} = new CompactCases(sha256Suite).prove("many");
  for (const json of [undefined, null, [], {}, {accountTree: []}, {accountTree: null}, "0x01", 1])
    assert.throws(() => verifyMultiProof(sha256Suite, root, request, json), ProofError);
});
