/**
 * Law: whatever is pruned, in whatever steps and however often it is broken off, in the end the store has exactly the pages
 * that its kept blocks reach, and they are what they were.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Random} from "../../load/requests/random.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {SuiteName} from "../../storage/hash/suiteNames.ts";
import {PrunedBlocks} from "../../storage/prune/prunedBlocks.ts";
import {readRun} from "../../storage/prune/pruneRun.ts";
import {createRetention, type History} from "../../storage/prune/retention.ts";
import {FIRST_PAGE, pageKey} from "../../storage/record/layout.ts";
import {sealRecord} from "../../storage/record/record.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import {propertyRuns} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {applyBlock, bytes, digestOf, withStore} from "../support/stores/dicedBlocks.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {reachablePages, storedPages} from "../support/stores/reachablePages.ts";

/** Some grow an account tree from one page to three levels, and its index from none to directories of buckets. */
const EXTENTS: readonly {suite: SuiteName; runs: number; accounts: number; blocks: number}[] = [
  {suite: "sha256", runs: propertyRuns(2), accounts: 90, blocks: 14},
  {suite: "poseidon2", runs: propertyRuns(1), accounts: 60, blocks: 8},
];
const WRONG_ROOT = new Uint8Array(32).fill(0x77);

const histories: fc.Arbitrary<{history: History; ends: readonly number[]}> = fc.oneof(
  fc.record({
    history: fc.integer({min: 1, max: 6}).map(blocks => ({kind: "newest", blocks}) as const),
    ends: fc.constant([]),
  }),
  fc.record({
    history: fc.constant({kind: "finalizations"} as const),
    ends: fc.array(fc.nat(13), {maxLength: 6}).map(ends => ends.sort((a, b) => a - b)),
  }),
);

/**
 * Writes a page into each place that a refused block has left, as a block does that is sealed in parts: such pages belong to a
 * block, and none of its trees reaches them.
 *
 * @param holes - takes the pages, and the block that each belongs to
 */
async function fillHoles(
  store: StateStore,
  first: number,
  latest: number,
  holes: Map<number, number>,
): Promise<void> {
  for (let block = first; block <= latest; block++) {
    const since = block === 0 ? FIRST_PAGE : (store.reader.readHeaderRecord(block - 1)?.nextPage as number);
    const reached = new Set(reachablePages(store.reader, [block]));
    for (let page = since; page < store.reader.blockOrThrow(block).nextPage; page++) {
      if (reached.has(page)) continue;
      const key = pageKey(page);
      await store.db.put(key, sealRecord(key, Buffer.from("L")));
      holes.set(page, block);
    }
  }
}

for (const {suite, runs, accounts, blocks} of EXTENTS)
  test(`${suite}: pruning leaves exactly the pages that kept blocks reach, whatever breaks it off`, async () => {
    const plans = fc.record({
      seed: fc.nat(),
      policies: fc.array(histories, {minLength: 1, maxLength: 3}),
      pages: fc.constantFrom(1, 3, 17, 1000),
      stepBlocks: fc.constantFrom(1, 2, 100),
      breaks: fc.array(fc.nat(40), {maxLength: 4}),
    });
    const property = fc.asyncProperty(plans, async ({seed, policies, pages, stepBlocks, breaks}) =>
      withStore(suite, async open => {
        let store = await open();
        const dice = new Random(seed, 0);
        const digests: string[] = [];
        const pauses = [...breaks];
        const holes = new Map<number, number>();
        for (const {history, ends} of policies) {
          const writer = await BlockWriter.create(store);
          const first = digests.length;
          const end = first + 1 + dice.below(blocks);
          for (let block = first; block < end; block++) {
            if (dice.below(3) === 0)
              await assert.rejects(
                applyBlock(writer, block, dice, accounts, {expectedStateRoot: WRONG_ROOT}),
                {
                  code: "STATE_ROOT_MISMATCH",
                },
              );
            await applyBlock(writer, block, dice, accounts);
            digests.push("");
          }
          const latest = digests.length - 1;
          const finalized = Math.max(0, latest - dice.below(3));
          writer.markFinalized(finalized);
          await writer.flush();
          for (let block = first; block <= latest; block++) digests[block] = digestOf(store, block);
          await fillHoles(store, first, latest, holes);
          const before = await PrunedBlocks.read(store.reader);
          const recorded = ends.filter(end => end <= finalized);
          const lastEnd = recorded.at(-1);
          const from = (block: number) => recorded.find(end => end >= block);
          const retention = () => createRetention(history, {from, last: () => lastEnd});
          for (;;) {
            let left = pauses.pop() ?? Number.POSITIVE_INFINITY;
            const goesOn = () => left-- > 0;
            if (await pruneStore(store, retention(), {pages, blocks: stepBlocks, goesOn})) break;
            await store.close();
            store = await open();
          }
          assert.equal(readRun(store.reader), undefined);
          const now = (await store.reader.readFinalized()) as number;
          const kept: number[] = [];
          const pruned = await PrunedBlocks.read(store.reader);
          for (let block = 0; block <= latest; block++) {
            const isKept =
              block >= now ||
              (!before.has(block) &&
                (history.kind === "newest"
                  ? block > now - history.blocks
                  : block > (lastEnd ?? -1) || recorded.includes(block)));
            assert.equal(pruned.has(block), !isKept, `block ${block}`);
            assert.equal(
              Buffer.compare(
                store.reader.readHeaderRecord(block)?.header.hash as Uint8Array,
                bytes(32, `block ${block}`),
              ),
              0,
            );
            assert.equal(store.reader.findBlock(bytes(32, `block ${block}`)), block);
            if (isKept) kept.push(block);
            else assert.throws(() => store.reader.blockOrThrow(block), {code: "BLOCK_PRUNED"});
          }
          assert.equal(store.reader.readEarliest(), kept[0]);
          const left = [...holes].filter(([, block]) => kept.includes(block)).map(([page]) => page);
          const expected = [...reachablePages(store.reader, kept), ...left].sort((a, b) => a - b);
          assert.deepEqual(await storedPages(store), expected);
          for (const block of kept) assert.equal(digestOf(store, block), digests[block], `block ${block}`);
        }
        const {directory} = store;
        await store.close();
        assert.deepEqual((await checkStore(directory)).found, []);
      }),
    );
    await fc.assert(property, {numRuns: runs, includeErrorInReport: true});
  });
