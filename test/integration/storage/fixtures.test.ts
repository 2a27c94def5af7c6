/** The store against test/fixtures/own: state roots are checked by the import, proofs byte by byte. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import {readFixture} from "../../support/reference/fixtures.ts";
import type {ProofVectors} from "../../support/reference/proofVectors.ts";
import {proveCalls} from "../../support/stores/proveCalls.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

for (const suite of SUITE_NAMES)
  test(`${suite}: the store comes to the state roots of the fixtures and proves what they prove, byte by byte`, async () => {
    const {blocks, proofs} = readFixture<ProofVectors>(`own/proofs-${suite}`);
    const store = await TemporaryStore.create(suite);
    try {
      await store.mustImport(blocks, "last");
      const calls = proofs.map(({block, address, keys}) => ({block, address, slots: keys.map(BigInt)}));
      const answers = await proveCalls(store.pool, calls);
      for (const [i, {what, result}] of proofs.entries())
        assert.equal(answers[i], `{"jsonrpc":"2.0","id":${i},"result":${JSON.stringify(result)}}`, what);
    } finally {
      await store.close();
    }
  });
