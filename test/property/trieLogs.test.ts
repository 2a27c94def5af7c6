/** Law: a chain's trie logs lead to the store that its block differences lead to. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {randomChains} from "../support/chains/randomBlocks.ts";
import {logLines} from "../support/nodes/trieLogLines.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {propertyRuns} from "../support/soak.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** The reference's poseidon2 takes some ten times as long as its sha256. */
const EXTENTS = [
  {suite: memoisedSha256, numRuns: propertyRuns(1), maxBlocks: 15},
  {suite: memoisedPoseidon2, numRuns: propertyRuns(1), maxBlocks: 8},
];

for (const {suite, numRuns, maxBlocks} of EXTENTS)
  test(`${suite.name}: every key of random chains is proven at every block that came as a trie log`, async () => {
    const property = fc.asyncProperty(
      fc.noBias(randomChains({maxBlocks})),
      fc.boolean(),
      async (chain, isHex) => {
        const state = new ReferenceState(suite, chain.lines);
        await TemporaryStore.use(suite.name, async store => {
          const outcome = await store.importTrieLogs(await logLines(chain.lines), isHex);
          assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
          assert.equal(outcome.blocks, chain.lines.length);
          await checkEveryKey(store.engine, state, chain);
        });
      },
    );
    await fc.assert(property, {numRuns, includeErrorInReport: true});
  });
