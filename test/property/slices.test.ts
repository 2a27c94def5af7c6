/**
 * Law: a store of slices, with gaps in it, is pruned as a whole store: pruning that is broken off anywhere, between blocks,
 * rollbacks and starts, changes no proof of a kept block, and in the end leaves exactly the pages that kept blocks reach. So it is
 * from what kill -9 leaves at any write: no acknowledged block is lost, and none of which only the header is stored is the newest.
 */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import {Random} from "../../load/requests/random.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {NodeMissing} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {PrunedBlocks} from "../../storage/prune/prunedBlocks.ts";
import {createRetention, type History} from "../../storage/prune/retention.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {propertyRuns, sameExamples} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {type Kill, KillImage} from "../support/stores/killImage.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {applySlice, CONTRACTS, RandomSlices, SLOTS_OF, TrieProver} from "../support/stores/randomSlices.ts";
import {reachablePages, storedPages} from "../support/stores/reachablePages.ts";

const ALL: History = {kind: "all"};
/** Every fifth finalized block ends a finalization. */
const END = 5;

type Step = {readonly kill: Kill | undefined} & (
  | {
      readonly kind: "blocks";
      readonly count: number;
      readonly missed: number;
      readonly finalizes: number;
      readonly contracts: readonly number[];
    }
  | {readonly kind: "rollback"; readonly blocks: number}
  | {readonly kind: "prune"; readonly history: History; readonly writes: number; readonly pages: number}
);

const kill: fc.Arbitrary<Step["kill"]> = fc.option(
  fc.record({write: fc.nat(5), share: fc.constantFrom(0, 0.4, 0.99, 1)}),
  {nil: undefined},
);
const history = fc.oneof(
  fc.integer({min: 1, max: 6}).map(blocks => ({kind: "newest", blocks}) as const),
  fc.constant({kind: "finalizations"} as const),
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kill,
      kind: fc.constant("blocks" as const),
      count: fc.integer({min: 1, max: 6}),
      missed: fc.constantFrom(0, 0, 1, 4),
      finalizes: fc.integer({min: 0, max: 9}),
      contracts: fc.constantFrom([0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1], [2], [1, 2]),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kill,
      kind: fc.constant("rollback" as const),
      blocks: fc.integer({min: 1, max: 5}),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kill,
      kind: fc.constant("prune" as const),
      history,
      writes: fc.integer({min: 0, max: 12}),
      pages: fc.constantFrom(1, 4, 30),
    }),
  },
);

/** What can be proved of a block, by contract and slot; undefined: its state is not stored. */
type Proofs = ReadonlyMap<string, string> | undefined;

class Walk {
  private proofs: Proofs[] = [];
  private finalized = -1;
  private readonly dice: Random;
  readonly counts = {proved: 0, missing: 0, missed: 0};

  constructor(
    private store: StateStore,
    private readonly open: () => Promise<StateStore>,
    private readonly image: KillImage,
    private chain: RandomSlices,
    seed: number,
  ) {
    this.dice = new Random(seed, 2);
  }

  async take(step: Step): Promise<void> {
    const before = {proofs: [...this.proofs], finalized: this.finalized};
    if (step.kill !== undefined) this.image.arm(step.kill);
    if (step.kind === "blocks") await this.addBlocks(step);
    else if (step.kind === "rollback") await this.removeBlocks(step.blocks);
    else {
      let left = step.writes;
      await this.prune(step.history, step.pages, () => left-- > 0);
    }
    await this.requireKept();
    if (step.kill !== undefined) await this.resume(before);
  }

  private async resume(before: {
    readonly proofs: readonly Proofs[];
    readonly finalized: number;
  }): Promise<void> {
    await this.store.close();
    const acknowledged = await this.image.restore();
    this.store = await this.open();
    if (acknowledged === undefined) return;
    const {reader} = this.store;
    const {first} = this.chain;
    const latest = (await reader.latest()) ?? -1;
    assert.ok(latest >= acknowledged, `${latest} of ${acknowledged}`);
    assert.equal(await reader.prunedFrom(latest + 1), undefined, "a block without state is never the newest");
    this.finalized = reader.readFinalized() ?? -1;
    assert.ok(this.finalized >= before.finalized);
    if (latest < 0) {
      this.proofs = [];
      this.chain = new RandomSlices(first, this.dice.below(1000));
      return;
    }
    // What later blocks added to the proofs of older ones may be lost with them.
    this.proofs = this.proofs.map((after, at) => after && (before.proofs[at] ?? new Map()));
    // A rollback that was broken off: the blocks above are still there.
    if (latest - first >= this.proofs.length) await this.store.rollback(first + this.proofs.length - 1);
    this.proofs.length = Math.min(this.proofs.length, latest - first + 1);
    this.chain.rollback(first + this.proofs.length - 1);
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

  private async addBlocks({
    count,
    missed,
    finalizes,
    contracts,
  }: Extract<Step, {kind: "blocks"}>): Promise<void> {
    const {chain, store, dice} = this;
    const writer = await BlockWriter.create(store);
    const isEmpty = chain.latest < chain.first;
    const gap = isEmpty || count < 2 ? -1 : dice.below(count - 1);
    for (let at = 0; at < count; at++) {
      for (let i = at === gap ? missed : 0; i > 0; i--) {
        await chain.grow();
        await applySlice(writer, chain.miss(chain.latest));
        this.proofs.push(undefined);
        this.counts.missed++;
        if (dice.below(3) === 0) await writer.flush();
      }
      await chain.grow();
      const block = chain.latest;
      const isFresh = block === chain.first || writer.trie === undefined || dice.below(12) === 0;
      await applySlice(writer, chain.take(block, isFresh, contracts, dice.below(2) === 0 ? contracts : []));
      if (dice.below(2) === 0) await writer.flush();
      this.proofs.push(new Map());
    }
    const from = this.finalized < 0 ? chain.first - 1 : this.finalized;
    this.finalized = Math.max(this.finalized, Math.min(chain.latest, from + finalizes));
    if (this.finalized >= chain.first) writer.markFinalized(this.finalized);
    else this.finalized = -1;
    await writer.flush();
  }

  private async removeBlocks(blocks: number): Promise<void> {
    const {chain, proofs} = this;
    let to = Math.max(chain.latest - blocks, this.finalized, chain.first);
    while (to <= chain.latest && proofs[to - chain.first] === undefined) to++;
    if (to >= chain.latest) return;
    await this.store.rollback(to);
    proofs.length = to - chain.first + 1;
    chain.rollback(to);
  }

  private prune(history: History, pages: number, goesOn: () => boolean): Promise<boolean> {
    const from = (block: number) => {
      const end = Math.ceil(block / END) * END;
      return end <= this.finalized ? end : undefined;
    };
    const last = () => (this.finalized < 0 ? undefined : this.finalized - (this.finalized % END));
    return pruneStore(this.store, createRetention(history, {from, last}), {pages, blocks: 2, goesOn});
  }

  /** What could be proved can be proved, as from the whole state. @returns the blocks whose state is stored */
  private async requireKept(): Promise<number[]> {
    const {reader} = this.store;
    const {chain, proofs} = this;
    const kept: number[] = [];
    const pruned = proofs.length === 0 ? new PrunedBlocks() : await PrunedBlocks.read(reader);
    for (const [at, before] of proofs.entries()) {
      const block = chain.first + at;
      const {header, stateRoot} = reader.headerRecordOrThrow(block);
      assert.equal(toHex(header.hash), toHex(chain.at(block).hash));
      assert.equal(toHex(stateRoot), toHex(chain.at(block).trie.root));
      const record = reader.readBlock(block);
      assert.equal(pruned.has(block), record === undefined, `block ${block}`);
      if (record?.trie === undefined) continue;
      assert.ok(before !== undefined);
      kept.push(block);
      const now = new Map(this.proveAll(block, record.trie));
      for (const [name] of before) assert.ok(now.has(name), `block ${block}: ${name} was there`);
      proofs[at] = now;
    }
    return kept;
  }

  private *proveAll(block: number, trie: {page: number; root: Uint8Array}): Generator<[string, string]> {
    const prover = new TrieProver(this.store.reader.pages);
    for (const contract of CONTRACTS.keys())
      for (const [at, slot] of (SLOTS_OF[contract] as readonly Uint8Array[]).entries()) {
        try {
          const proof = prover.proveText(trie, contract, slot);
          assert.equal(proof, this.chain.prove(block, contract, slot));
          this.counts.proved++;
          yield [`${contract} ${at}`, proof];
        } catch (error) {
          if (!(error instanceof NodeMissing)) throw error;
          this.counts.missing++;
        }
      }
  }
}

test("slices with gaps are pruned as whole stores, and go on from what a kill leaves", async t => {
  const plans = fc.record({
    seed: fc.nat(),
    taken: fc.array(steps, {minLength: 5, maxLength: 18}),
    last: fc.oneof(history, fc.constant(ALL)),
  });
  const total = {proved: 0, missing: 0, missed: 0};
  const property = fc.asyncProperty(plans, async ({seed, taken, last}) => {
    const folder = await mkdtemp(join(tmpdir(), "proofd-slices-"));
    const directory = join(folder, "db");
    const open = () =>
      StateStore.open({
        ...{directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 16, suite: "keccak"},
      });
    try {
      const chain = new RandomSlices(7 + (seed % 5), seed);
      const walk = new Walk(await open(), open, new KillImage(t, directory), chain, seed);
      for (const step of taken) await walk.take(step);
      await walk.end(last);
      for (const name of ["proved", "missing", "missed"] as const) total[name] += walk.counts[name];
    } finally {
      t.mock.restoreAll();
      await rm(folder, {recursive: true});
    }
  });
  const block = {
    kind: "blocks",
    count: 1,
    missed: 0,
    finalizes: 0,
    contracts: [0, 1, 2],
    kill: undefined,
  } as const;
  // The last block names slots of a contract of which nothing was known, and whose storage root stays.
  const sameRoot = {
    seed: 2139092982,
    taken: [block, block, {kind: "rollback", blocks: 1, kill: undefined} as const, block],
    last: ALL,
  };
  const examples = [sameRoot, ...sameExamples(plans, 1)].map((plan): [typeof plan] => [plan]);
  await fc.assert(property, {numRuns: propertyRuns(3), examples, includeErrorInReport: true});
  assert.ok(total.proved > 1000 && total.missing > 0, JSON.stringify(total));
});
