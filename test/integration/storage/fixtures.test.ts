/** The store against test/fixtures/own: state roots are checked by the import, proofs byte by byte. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {readFixture} from "../../support/reference/fixtures.ts";
import type {ProofVectors} from "../../support/reference/proofVectors.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

const {blocks, proofs} = readFixture<ProofVectors>("own/proofs-sha256");
let store: TemporaryStore;

before(async () => {
  store = await TemporaryStore.create();
});

after(() => store.close());

test("the store comes to the state roots of the fixtures and proves what they prove, byte by byte", async () => {
  await store.mustImport(blocks, "last");
  const calls = proofs.map(({block, address, keys}) => ({block, address, slots: keys.map(BigInt)}));
  const answers = await proveCalls(store.pool, calls);
  for (const [i, {what, result}] of proofs.entries())
    assert.equal(answers[i], `{"jsonrpc":"2.0","id":${i},"result":${JSON.stringify(result)}}`, what);
});
