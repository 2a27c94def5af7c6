/**
 * Law: pruning that is broken off anywhere and goes on much later, between imports, rollbacks, starts and other settings of
 * `--history`, never changes a kept block, and in the end leaves exactly the pages that kept blocks reach.
 */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {Random} from "../../load/requests/random.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {PrunedBlocks} from "../../storage/prune/prunedBlocks.ts";
import {createRetention, type History} from "../../storage/prune/retention.ts";
import type {StateStore} from "../../storage/stateStore.ts";
import {propertyRuns} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {applyBlock, bytes, digestOf, withStore} from "../support/stores/dicedBlocks.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {reachablePages, storedPages} from "../support/stores/reachablePages.ts";

const ACCOUNTS = 60;
const ALL: History = {kind: "all"};

type Step =
  | {readonly kind: "blocks"; readonly count: number; readonly finalizes: number}
  | {readonly kind: "rollback"; readonly blocks: number}
  | {
      readonly kind: "prune";
      readonly history: History;
      readonly writes: number;
      readonly pages: number;
      readonly restarts: boolean;
    };

const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("blocks" as const),
    count: fc.integer({min: 1, max: 5}),
    finalizes: fc.integer({min: 0, max: 6}),
  }),
  fc.record({kind: fc.constant("rollback" as const), blocks: fc.integer({min: 1, max: 4})}),
  fc.record({
    kind: fc.constant("prune" as const),
    history: fc.oneof(
      fc.integer({min: 1, max: 4}).map(blocks => ({kind: "newest", blocks}) as const),
      fc.constant({kind: "finalizations"} as const),
      fc.constant(ALL),
    ),
    writes: fc.integer({min: 0, max: 12}),
    pages: fc.constantFrom(1, 4, 30),
    restarts: fc.boolean(),
  }),
);

/** Every third finalized block ends a finalization, and nobody knows of those above. */
function findEnd(from: number, finalized: number): number | undefined {
  const end = Math.ceil(from / 3) * 3;
  return end <= finalized ? end : undefined;
}

class Walk {
  private store: StateStore;
  private readonly open: () => Promise<StateStore>;
  private readonly dice: Random;
  /** The pages of each block that is or was held, by block. */
  private readonly digests: string[] = [];
  private finalized = -1;
  private made = 0;

  constructor(store: StateStore, open: () => Promise<StateStore>, seed: number) {
    this.store = store;
    this.open = open;
    this.dice = new Random(seed, 0);
  }

  async take(step: Step): Promise<void> {
    if (step.kind === "blocks") await this.addBlocks(step.count, step.finalizes);
    else if (step.kind === "rollback") await this.removeBlocks(step.blocks);
    else {
      let left = step.writes;
      await this.prune(step.history, step.pages, () => left-- > 0);
      if (step.restarts) await this.restart();
    }
    await this.requireKept();
  }

  /** Ends what was begun, and what is not kept now. */
  async end(history: History): Promise<void> {
    assert.equal(await this.prune(history, 100, () => true), true);
    const kept = await this.requireKept();
    assert.deepEqual(await storedPages(this.store), reachablePages(this.store.reader, kept));
    const {directory} = this.store;
    await this.store.close();
    assert.deepEqual((await checkStore(directory)).found, []);
  }

  private async addBlocks(count: number, finalizes: number): Promise<void> {
    const writer = await BlockWriter.create(this.store);
    const first = this.digests.length;
    for (let block = first; block < first + count; block++)
      await applyBlock(writer, block, this.dice, ACCOUNTS, {hash: bytes(32, `block ${this.made++}`)});
    this.finalized = Math.min(Math.max(this.finalized, first + count - 1), this.finalized + finalizes);
    if (this.finalized >= 0) writer.markFinalized(this.finalized);
    await writer.flush();
    for (let block = first; block < first + count; block++) this.digests.push(digestOf(this.store, block));
  }

  private async removeBlocks(blocks: number): Promise<void> {
    const to = Math.max(this.digests.length - 1 - blocks, this.finalized, 0);
    if (to >= this.digests.length) return;
    await this.store.rollback(to);
    this.digests.length = to + 1;
  }

  private prune(history: History, pages: number, goesOn: () => boolean): Promise<boolean> {
    const from = (block: number) => findEnd(block, this.finalized);
    const last = () => (this.finalized < 0 ? undefined : this.finalized - (this.finalized % 3));
    const retention = createRetention(history, {from, last});
    return pruneStore(this.store, retention, {pages, blocks: 2, goesOn});
  }

  private async restart(): Promise<void> {
    await this.store.close();
    this.store = await this.open();
  }

  /** Every block that is not pruned is what it was. @returns these blocks */
  private async requireKept(): Promise<number[]> {
    const {reader} = this.store;
    const pruned = await PrunedBlocks.read(reader);
    const kept: number[] = [];
    for (const [block, digest] of this.digests.entries()) {
      assert.equal(pruned.has(block), reader.readPruned(block) !== undefined, `block ${block}`);
      assert.equal(pruned.has(block), reader.readBlock(block) === undefined, `block ${block}`);
      if (pruned.has(block)) assert.ok(block < this.finalized, `block ${block}`);
      else {
        assert.equal(digestOf(this.store, block), digest, `block ${block}`);
        kept.push(block);
      }
    }
    if (kept[0] !== undefined) assert.equal(reader.readEarliest(), kept[0]);
    return kept;
  }
}

test("kept blocks stay as they were while pruning comes and goes between imports, rollbacks and starts", async () => {
  const plans = fc.record({
    seed: fc.nat(),
    taken: fc.array(steps, {minLength: 5, maxLength: 25}),
    last: fc.constantFrom<History>(ALL, {kind: "newest", blocks: 2}, {kind: "finalizations"}),
  });
  const property = fc.asyncProperty(plans, ({seed, taken, last}) =>
    withStore("sha256", async open => {
      const walk = new Walk(await open(), open, seed);
      for (const step of taken) await walk.take(step);
      await walk.end(last);
    }),
  );
  await fc.assert(property, {numRuns: propertyRuns(2), includeErrorInReport: true});
});
