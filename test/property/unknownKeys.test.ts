/**
 * Law: a store that was converted from the format without keys counts the leaves that have none, whatever is imported, rolled back and
 * pruned, and knows all keys of all kept blocks once these were imported again.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {createRetention} from "../../storage/prune/retention.ts";
import {forkedChains, type RandomChain} from "../support/chains/randomBlocks.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {propertyRuns, sampleOf} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {downgradeStore} from "../support/stores/downgradedStore.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {checkEveryLeaf} from "../support/stores/everyLeaf.ts";
import {openOwned} from "../support/stores/importedStore.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** Counts and fills do not depend on the suite, and the reference's poseidon2 takes ten times as long as its sha256. */
const SUITES = sampleOf([memoisedSha256, memoisedPoseidon2], 1);

/** Accounts and slots that the newest block has. */
function countLeaves(state: ReferenceState): number {
  return state.listAddresses(state.latest).reduce((count, address) => {
    const account = state.readAccount(state.latest, address);
    return count + 1 + (account?.slots.size ?? 0);
  }, 0);
}

/** `check` counts again. @returns the recorded number */
async function countUnknown(store: TemporaryStore): Promise<number> {
  assert.deepEqual((await checkStore(store.directory)).found, []);
  return store.engine.chain.unknownKeys();
}

async function pruneAllBut(store: TemporaryStore, blocks: number): Promise<void> {
  await store.engine.close();
  const open = await openOwned(store.directory);
  const ends = {from: () => undefined, last: () => undefined};
  const retention = createRetention({kind: "newest", blocks}, ends);
  assert.ok(await pruneStore(open, retention, {pages: 100, goesOn: () => true}));
  await open.close();
  await store.reopen();
}

const plans = fc.record({
  /** Blocks of the first branch that are imported again before it is left. */
  again: fc.nat(6),
  /** Is the second branch imported from block 0, or only what follows the trunk? */
  fromZero: fc.boolean(),
  /** 0: nothing is pruned. */
  kept: fc.nat(3),
});

for (const suite of SUITES)
  test(`${suite.name}: leaves without a key are counted through imports, a rollback and pruning, and all get theirs`, async () => {
    const chains = forkedChains({maxBlocks: 5});
    const property = fc.asyncProperty(chains, plans, async ({trunk, left, right}, plan) => {
      const store = await TemporaryStore.create(suite.name);
      try {
        await store.mustImport(left.lines, trunk);
        await store.engine.close();
        await downgradeStore(store.directory, suite.name);
        await store.reopen();
        const leftState = new ReferenceState(suite, left.lines);
        assert.equal(await countUnknown(store), countLeaves(leftState));
        await checkEveryLeaf(store.engine, leftState, left, [leftState.latest], () => undefined);

        await store.importLines(left.lines.slice(0, plan.again), trunk);
        const counted = await countUnknown(store);
        if (plan.again >= left.lines.length) assert.equal(counted, 0);
        await store.engine.rollback(trunk);
        await countUnknown(store);

        const from = plan.fromZero ? 0 : trunk + 1;
        await store.importLines(right.lines.slice(from), "last");
        await countUnknown(store);
        if (plan.kept > 0) await pruneAllBut(store, plan.kept);
        await countUnknown(store);

        await store.importLines(right.lines, "last");
        assert.equal(await countUnknown(store), 0);
        const state = new ReferenceState(suite, right.lines);
        await checkEveryLeaf(store.engine, state, right, keptBlocks(store, state, right));
      } finally {
        await store.close();
      }
    });
    await fc.assert(property, {numRuns: propertyRuns(3), includeErrorInReport: true});
  });

function keptBlocks(store: TemporaryStore, state: ReferenceState, {lines}: RandomChain): number[] {
  const blocks = lines.map((_, block) => block).filter(block => !store.engine.chain.pruned.has(block));
  assert.ok(blocks.includes(state.latest));
  return blocks;
}
