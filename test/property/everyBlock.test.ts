/** Law: whatever happened to a key, every block proves it as it was then, to the byte. Pool, threads and LevelDB are real. */
import {test} from "node:test";
import fc from "fast-check";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {type RandomChain, randomChains} from "../support/chains/randomBlocks.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";
import {checkEveryKey, memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** How a chain comes into the store. */
interface ImportPlan {
  /** Blocks of a first import, as a share of the chain. */
  readonly firstShare: number;
  /** Close and open the store between the two. */
  readonly reopens: boolean;
  /** The second import begins with the first's blocks again. */
  readonly repeats: boolean;
}

const plans: fc.Arbitrary<ImportPlan> = fc.record({
  firstShare: fc.constantFrom(0, 0, 0.3, 0.7),
  reopens: fc.boolean(),
  repeats: fc.boolean(),
});

/** Imports the chain as planned and checks every key at every block. @returns leaves proven */
async function checkChain(
  suite: HashSuite,
  chain: RandomChain,
  {firstShare, reopens, repeats}: ImportPlan,
): Promise<number> {
  const state = new ReferenceState(suite, chain.lines);
  // Every other line says which root it expects: those blocks are refused if the store finds another.
  const lines = chain.lines.map((line, block) =>
    block % 2 === 0 ? line : {...line, stateRoot: `0x${Buffer.from(state.stateRoot(block)).toString("hex")}`},
  );
  return TemporaryStore.use(suite.name, async store => {
    const first = Math.floor(lines.length * firstShare);
    if (first > 0) {
      await store.mustImport(lines.slice(0, first), "last");
      // Before the second import too, so that the threads hold pages of a head that then becomes an old block.
      await checkEveryKey(store.engine, state, chain, [first - 1]);
      if (reopens) await store.reopen();
    }
    await store.mustImport(lines.slice(repeats ? 0 : first), "last");
    return await checkEveryKey(store.engine, state, chain);
  });
}

/**
 * The reference's poseidon2 takes some ten times as long as its sha256. Where leaves lie in pages does not depend on the suite. Past
 * each of the boundaries a tree has a level more.
 */
const EXTENTS = [
  {suite: memoisedSha256, maxBlocks: isSoak() ? 30 : 10, boundaries: sampleOf([512, 128, 32, 8], 2)},
  {suite: memoisedPoseidon2, maxBlocks: isSoak() ? 15 : 5, boundaries: sampleOf([8, 32, 128], 3)},
];

for (const {suite, maxBlocks, boundaries} of EXTENTS) {
  test(`${suite.name}: every key, present or absent, is proven at every block of random chains`, async t => {
    let leaves = 0;
    let chains = 0;
    const property = fc.asyncProperty(fc.noBias(randomChains({maxBlocks})), plans, async (chain, plan) => {
      leaves += await checkChain(suite, chain, plan);
      chains++;
    });
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
    t.diagnostic(`${chains} chains, ${leaves} leaves`);
  });

  for (const boundary of boundaries)
    test(`${suite.name}: every key is proven at every block while accounts and slots grow past ${boundary} leaves, and after they are gone`, async () => {
      const chains = growingChains({boundary, maxBlocks: isSoak() ? 6 : 3});
      const property = fc.asyncProperty(chains, plans, async (chain, plan) => {
        await checkChain(suite, chain, plan);
      });
      await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
    });
}
