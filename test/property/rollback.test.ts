/** Law: a store that left a branch is the store that never saw it. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex} from "../../client/bytes/hex.ts";
import {forkedChains} from "../support/chains/randomBlocks.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {proveCalls} from "../support/stores/proveCalls.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** What a rollback removes does not depend on the suite, and the reference's poseidon2 takes ten times as long as its sha256. */
const EXTENTS = sampleOf(
  [
    {suite: memoisedSha256, maxBlocks: isSoak() ? 6 : 4},
    {suite: memoisedPoseidon2, maxBlocks: 4},
  ],
  2,
);

for (const {suite, maxBlocks} of EXTENTS) {
  test(`${suite.name}: after a rollback another branch is proven as by a store that never held the first`, async () => {
    const plans = fc.record({reopens: fc.boolean(), returns: fc.boolean()});
    const property = fc.asyncProperty(
      forkedChains({maxBlocks}),
      plans,
      async ({trunk, left, right}, plan) => {
        const [leftState, rightState] = [left, right].map(({lines}) => new ReferenceState(suite, lines)) as [
          ReferenceState,
          ReferenceState,
        ];
        await TemporaryStore.use(suite.name, async store => {
          await store.mustImport(left.lines, trunk);
          // Every page of the branch to be left is now in the threads' caches.
          await checkEveryKey(store.engine, leftState, left);
          await store.engine.writes.rollback(trunk);
          if (plan.reopens) await store.reopen();
          assert.deepEqual(store.engine.chain.head(), {earliest: 0, finalized: trunk, latest: trunk});
          for (const line of left.lines.slice(trunk + 1)) {
            assert.equal(store.engine.chain.findBlock(decodeHex(line.hash)), undefined);
            const block = Number(line.number);
            assert.equal(
              (store.engine.chain.readBlock(block) as {failure?: string}).failure,
              "BLOCK_UNKNOWN",
            );
            const call = {block, address: left.addresses[0] as string, slots: []};
            assert.deepEqual(await proveCalls(store.engine, [call]), ["BLOCK_UNKNOWN"]);
          }
          await store.mustImport(right.lines, trunk);
          await checkEveryKey(store.engine, rightState, right);
          if (plan.returns) {
            await store.engine.writes.rollback(trunk);
            await store.mustImport(left.lines, "last");
            await checkEveryKey(store.engine, leftState, left);
          }
        });
      },
    );
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
  });

  test(`${suite.name}: so it is where an import goes on: rolled back between two blocks, it takes another branch from its source`, async () => {
    const property = fc.asyncProperty(forkedChains({maxBlocks}), async ({trunk, left, right}) => {
      await TemporaryStore.use(suite.name, async store => {
        const running = await store.follow(trunk);
        await store.append(left.lines);
        await checkEveryKey(store.engine, new ReferenceState(suite, left.lines), left);
        assert.deepEqual(await store.engine.writes.rollback(trunk), {
          earliest: 0,
          finalized: trunk,
          latest: trunk,
        });
        assert.deepEqual(store.engine.chain.head(), {earliest: 0, finalized: trunk, latest: trunk});
        // From its first line: blocks that both have are recognised.
        await store.append(right.lines);
        await checkEveryKey(store.engine, new ReferenceState(suite, right.lines), right);
        running.stop();
        const outcome = await running.outcome;
        assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
        assert.equal(outcome.blocks, right.lines.length);
        await store.reopen();
        await checkEveryKey(store.engine, new ReferenceState(suite, right.lines), right);
      });
    });
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
  });
}
