/**
 * Law: whatever the sizes of ranges, threads and places at which a pull is broken off and gone on with, the leaves that it gives are
 * those of the reference's trees, each once. Engine, LevelDB and threads are real; calls reach the engine without HTTP.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import {
  createProofClient,
  type PulledRange,
  type PullStateParameters,
  pullState,
  type TreeLeaf,
} from "../../client/client.ts";
import type {ProofClient} from "../../client/methods/proofClient.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {forkedChains, type RandomChain} from "../support/chains/randomBlocks.ts";
import {assertWholeTree} from "../support/reference/pulledTree.ts";
import {keysOf} from "../support/reference/rangeBytes.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import {propertyRuns} from "../support/soak.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {proveLeaves} from "../support/stores/proveLeaves.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** How a tree is pulled: parameters of each part, taken in turn, and after how many ranges it is broken off. */
const manners = fc.array(
  fc.record({
    leavesPerRange: fc.oneof(fc.integer({min: 1, max: 9}), fc.constantFrom(64, 4096)),
    ahead: fc.integer({min: 1, max: 6}),
    threads: fc.constantFrom(0, 0, 0, 2),
    ranges: fc.integer({min: 1, max: 12}),
  }),
  {minLength: 1, maxLength: 6},
);
type Manner = typeof manners extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** A client whose calls go to the engine. */
function clientOf(store: TemporaryStore, state: ReferenceState): ProofClient {
  const request = async ({params}: {readonly params: readonly string[]}): Promise<string> => {
    const [tree, from, count, block] = params as [string, string, string, string];
    const address = tree === "accounts" ? undefined : decodeHex(tree);
    const call = {block: Number(block), address, from: Number(from), count: Number(count)};
    const bytes = await proveLeaves(store.engine, call);
    if (typeof bytes === "string") assert.fail(bytes);
    return encodeHex(bytes);
  };
  const trustedRoot = (block: bigint) => state.stateRoot(Number(block));
  return createProofClient({request, suite: state.suite, trustedRoot});
}

/** Pulls one tree, broken off again and again. */
async function pullInParts(
  client: ProofClient,
  parameters: PullStateParameters,
  manner: () => Manner,
): Promise<PulledRange[]> {
  const all: PulledRange[] = [];
  for (let isWhole = false; !isWhole; ) {
    const {ranges: most, ...how} = manner();
    const cursor = all.at(-1)?.cursor;
    let read = 0;
    isWhole = true;
    for await (const range of pullState(client, {
      ...parameters,
      ...how,
      ...(cursor === undefined ? {} : {cursor}),
    })) {
      all.push(range);
      if (++read < most) continue;
      isWhole = false;
      break;
    }
  }
  return all;
}

async function checkStates(
  store: TemporaryStore,
  state: ReferenceState,
  {lines, addresses}: RandomChain,
  blocks: readonly number[],
  manner: () => Manner,
): Promise<void> {
  const client = clientOf(store, state);
  const keyOf = keysOf(state.suite, lines);
  for (const block of blocks) {
    const check = (tree: string, ranges: readonly PulledRange[]) => {
      const held = tree === "accounts" ? state.accountTree(block) : state.readAccount(block, tree)?.storage;
      assertWholeTree(state.suite, leavesOf(ranges), held, keyOf);
      for (const range of ranges) {
        assert.equal(range.tree, tree.toLowerCase());
        assert.equal(range.account?.balance, state.readAccount(block, tree)?.balance);
      }
    };
    for (const tree of addresses) check(tree, await pullInParts(client, {tree, block}, manner));
    const all = await pullInParts(client, {tree: "all", block}, manner);
    const trees = [...new Set(all.map(({tree}) => tree))];
    for (const tree of trees)
      check(
        tree,
        all.filter(range => range.tree === tree),
      );
    // The account tree, and then the storage of each account that has any, by leaf index.
    const stored = leavesOf(all).flatMap(leaf =>
      leaf.role === "account" && (state.readAccount(block, `${leaf.address}`)?.storage.nextFreeNode ?? 0) > 2
        ? [`${leaf.address}`]
        : [],
    );
    assert.deepEqual(trees, ["accounts", ...stored]);
    const accounts = await pullInParts(client, {tree: "accounts", block}, manner);
    assert.deepEqual(leavesOf(accounts), leavesOf(all.filter(({tree}) => tree === "accounts")));
  }
}

function leavesOf(ranges: readonly PulledRange[]): TreeLeaf[] {
  return ranges.flatMap(({leaves}) => leaves);
}

/** Takes them in turn. */
function inTurn(list: readonly Manner[]): () => Manner {
  let turn = 0;
  return () => list[turn++ % list.length] as Manner;
}

for (const {suite, maxBlocks} of [
  {suite: memoisedSha256, maxBlocks: 4},
  {suite: memoisedPoseidon2, maxBlocks: 2},
])
  test(`${suite.name}: pulls of all trees of a random chain are the reference's, also after a rollback`, async () => {
    const property = fc.asyncProperty(
      forkedChains({maxBlocks}),
      manners,
      async ({trunk, left, right}, how) => {
        const store = await TemporaryStore.create(suite.name);
        try {
          const manner = inTurn(how);
          await store.mustImport(left.lines, trunk);
          const before = new ReferenceState(suite, left.lines);
          await checkStates(store, before, left, [before.latest], manner);
          await store.engine.rollback(trunk);
          await store.mustImport(right.lines, "last");
          const after = new ReferenceState(suite, right.lines);
          await checkStates(store, after, right, [0, after.latest], manner);
        } finally {
          await store.close();
        }
      },
    );
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
  });

test("threads verify the trees that are large enough for them", async () => {
  const property = fc.asyncProperty(growingChains({boundary: 512, maxBlocks: 2}), async chain => {
    const store = await TemporaryStore.create();
    try {
      await store.mustImport(chain.lines, "last");
      const state = new ReferenceState(memoisedSha256, chain.lines);
      const manner = inTurn([{leavesPerRange: 70, ahead: 4, threads: 2, ranges: 5}]);
      await checkStates(store, state, chain, [state.latest], manner);
    } finally {
      await store.close();
    }
  });
  await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
});
