/** Law: any range of leaves is, to the byte, the reference's, and ranges put every tree together, at any block. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {decodeHex, encodeHex} from "../../client/bytes/hex.ts";
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import {verifyLeaves} from "../../client/leaves/leafRange.ts";
import type {TreeLeaf} from "../../client/leaves/treeLeaf.ts";
import {growingChains} from "../support/chains/growingBlocks.ts";
import {forkedChains, type RandomChain} from "../support/chains/randomBlocks.ts";
import {assertWholeTree} from "../support/reference/pulledTree.ts";
import {joinRange, type KeyOf, keysOf, rangeParts} from "../support/reference/rangeBytes.ts";
import {ReferenceState} from "../support/reference/referenceState.ts";
import type {ReferenceTree} from "../support/reference/referenceTree.ts";
import {isSoak, propertyRuns, sampleOf} from "../support/soak.ts";
import {memoisedPoseidon2, memoisedSha256} from "../support/stores/everyKey.ts";
import {proveLeaves} from "../support/stores/proveLeaves.ts";
import {TemporaryStore} from "../support/stores/temporaryStore.ts";

/** How the trees of a chain are asked for: the lengths of the ranges, taken in turn. */
const lengths = fc.array(fc.oneof(fc.integer({min: 1, max: 9}), fc.constantFrom(64, 4096)), {
  minLength: 1,
  maxLength: 8,
});

/** Asks for every tree at each block, and compares all answers with the reference. @returns the number of answers */
async function checkTrees(
  store: TemporaryStore,
  state: ReferenceState,
  {lines, addresses}: RandomChain,
  blocks: readonly number[],
  counts: readonly number[],
): Promise<number> {
  const keyOf = keysOf(state.suite, lines);
  let turn = 0;
  for (const number of blocks) {
    const block = {number, hash: lines[number]?.hash as string};
    for (const address of [undefined, ...addresses]) {
      const pull = new TreePull(state, block, address, keyOf);
      while (!pull.isComplete) await pull.ask(store, counts[turn++ % counts.length] as number);
      pull.checkWhole();
    }
  }
  return turn;
}

/** A tree that is asked for range by range. */
class TreePull {
  private readonly suite: HashSuite;
  private readonly tree: ReferenceTree | undefined;
  private readonly leaves: TreeLeaf[] = [];
  private at = 0;
  isComplete = false;

  constructor(
    private readonly state: ReferenceState,
    private readonly block: {readonly number: number; readonly hash: string},
    private readonly address: string | undefined,
    private readonly keyOf: KeyOf,
  ) {
    this.suite = state.suite;
    this.tree =
      address === undefined
        ? state.accountTree(block.number)
        : state.readAccount(block.number, address)?.storage;
  }

  async ask(store: TemporaryStore, count: number): Promise<void> {
    const {state, block, address, keyOf, at} = this;
    const call = {
      block: block.number,
      address: address === undefined ? undefined : decodeHex(address.toLowerCase()),
      from: at,
      count,
    };
    const bytes = await proveLeaves(store.engine, call);
    if (typeof bytes === "string") assert.fail(bytes);
    const expected = joinRange(rangeParts(state, block, address, at, count, keyOf));
    assert.equal(encodeHex(bytes), encodeHex(expected), `${address} at block ${block.number} from ${at}`);
    const request = {tree: address ?? "accounts", from: at, count};
    const proven = verifyLeaves(this.suite, state.stateRoot(block.number), request, bytes);
    assert.equal(proven.block.hash, block.hash);
    this.leaves.push(...proven.leaves);
    this.at = proven.end;
    this.isComplete = proven.end === proven.nextFreeNode;
  }

  checkWhole(): void {
    assertWholeTree(this.suite, this.leaves, this.tree, this.keyOf);
  }
}

/** The reference's poseidon2 takes some ten times as long as its sha256. */
const EXTENTS = [
  {suite: memoisedSha256, maxBlocks: 8, boundaries: sampleOf([128, 8, 512], 3)},
  {suite: memoisedPoseidon2, maxBlocks: 3, boundaries: isSoak() ? [32] : []},
];

for (const {suite, maxBlocks, boundaries} of EXTENTS) {
  test(`${suite.name}: any ranges put every tree of a random chain together, at every block, and after a rollback`, async () => {
    const property = fc.asyncProperty(
      forkedChains({maxBlocks: Math.ceil(maxBlocks / 2)}),
      lengths,
      async ({trunk, left, right}, counts) => {
        await TemporaryStore.use(suite.name, async store => {
          await store.mustImport(left.lines, trunk);
          const leftState = new ReferenceState(suite, left.lines);
          await checkTrees(store, leftState, left, range(0, leftState.latest), counts);
          await store.engine.writes.rollback(trunk);
          await store.mustImport(right.lines, "last");
          const state = new ReferenceState(suite, right.lines);
          await checkTrees(store, state, right, range(0, state.latest), counts);
        });
      },
    );
    await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
  });

  for (const boundary of boundaries)
    test(`${suite.name}: so they do of trees that grow past ${boundary} leaves and lose them`, async () => {
      const property = fc.asyncProperty(
        growingChains({boundary, maxBlocks: 3}),
        lengths,
        async (chain, counts) => {
          await TemporaryStore.use(suite.name, async store => {
            await store.mustImport(chain.lines, "last");
            const state = new ReferenceState(suite, chain.lines);
            const blocks = range(0, state.latest).filter(block => block % 3 === state.latest % 3);
            await checkTrees(store, state, chain, blocks, counts);
          });
        },
      );
      await fc.assert(property, {numRuns: propertyRuns(1), includeErrorInReport: true});
    });
}

function range(first: number, last: number): number[] {
  return Array.from({length: last - first + 1}, (_, i) => first + i);
}
