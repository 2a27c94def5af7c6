/**
 * Law: pruning that is broken off anywhere and goes on much later, between imports, refused blocks, rollbacks, starts and other
 * settings of `--history`, never changes a kept block, and in the end leaves exactly the blocks that are to be kept, and the pages
 * that they reach. So it is from what kill -9 leaves at any write, whole or cut anywhere: every block has its trees and its state trie,
 * and no acknowledged one is lost.
 */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {join} from "node:path";
import {test} from "node:test";
import fc from "fast-check";
import {Random} from "../../load/requests/random.ts";
import type {AccountChange} from "../../storage/block/accountDifference.ts";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {WriteBatch} from "../../storage/commit/writeBatch.ts";
import {INNER_PAGE} from "../../storage/page/innerPage.ts";
import {PrunedBlocks} from "../../storage/prune/prunedBlocks.ts";
import {readRun} from "../../storage/prune/pruneRecord.ts";
import {createRetention, type History} from "../../storage/prune/retention.ts";
import {FIRST_PAGE, pageKey} from "../../storage/record/layout.ts";
import {sealRecord} from "../../storage/record/record.ts";
import {StateStore} from "../../storage/stateStore.ts";
import {propertyRuns, sameExamples} from "../support/soak.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {type Kill, KillImage} from "../support/stores/killImage.ts";
import {pruneStore} from "../support/stores/prunedStore.ts";
import {reachablePages, storedPages} from "../support/stores/reachablePages.ts";
import {applyWithTrie} from "../support/stores/writtenStore.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

/** They grow an account tree from one page to three levels, and its index from none to directories of buckets. */
const ACCOUNTS = 90;
const SLOTS = 45;
const WRONG_ROOT = new Uint8Array(32).fill(0x77);
const ALL: History = {kind: "all"};

type Step = {readonly kill: Kill | undefined} & (
  | {readonly kind: "blocks"; readonly count: number; readonly finalizes: number}
  | {readonly kind: "rollback"; readonly blocks: number}
  | {
      readonly kind: "prune";
      readonly history: History;
      readonly writes: number;
      readonly pages: number;
      readonly restarts: boolean;
    }
);

const kill: fc.Arbitrary<Step["kill"]> = fc.option(
  fc.record({write: fc.nat(5), share: fc.constantFrom(0, 0.01, 0.4, 0.99, 1)}),
  {nil: undefined},
);
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kill,
    kind: fc.constant("blocks" as const),
    count: fc.integer({min: 1, max: 5}),
    finalizes: fc.integer({min: 0, max: 6}),
  }),
  fc.record({kill, kind: fc.constant("rollback" as const), blocks: fc.integer({min: 1, max: 4})}),
  fc.record({
    kill,
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

function bytes(length: number, text: string): Uint8Array {
  return createHash("sha512").update(text).digest().subarray(0, length);
}

function randomChange(dice: Random): AccountChange | undefined {
  if (dice.below(12) === 0) return undefined;
  const isBusy = dice.below(3) === 0;
  const slots = new Set(Array.from({length: dice.below(isBusy ? SLOTS : 3)}, () => dice.below(SLOTS)));
  const storage = [...slots].map(slot => ({
    slot: bytes(32, `slot ${slot}`),
    value: new Uint8Array(32).fill(dice.below(3), 31),
  }));
  return {balance: BigInt(dice.below(1000)), reset: dice.below(12) === 0, storage};
}

/** Few accounts, which are changed, deleted and made again, with few or many slots. */
async function applyBlock(
  writer: BlockWriter,
  header: BlockHeader,
  dice: Random,
  expectedStateRoot?: Uint8Array,
): Promise<void> {
  const accounts = new AccountDifferences();
  const count = dice.below(dice.below(4) === 0 ? ACCOUNTS : 4);
  for (const account of new Set(Array.from({length: count}, () => dice.below(ACCOUNTS))))
    accounts.add({address: bytes(20, `account ${account}`), change: randomChange(dice)});
  await applyWithTrie(writer, {header, accounts, expectedStateRoot});
}

const FORMS = ["whole", "difference, whole", "anchor, whole", "difference, anchor, whole"];

/** What its record is, and those that it is a difference to. */
function formOf(reader: StateReader, page: number): string {
  const {base, isAnchor} = reader.pages.open(page);
  if (base === 0) return "whole";
  return `${isAnchor ? "anchor" : "difference"}, ${formOf(reader, base)}`;
}

/** How the sparse trees' inner pages were stored that were compared with what was written. */
const met = new Set<string>();

/** The pages of a block: numbers and bytes. @param pruned - all blocks that wrote lower pages are pruned */
function digestOf({reader}: StateStore, block: number, pruned = FIRST_PAGE): string {
  const hash = createHash("sha256");
  for (const page of reachablePages(reader, [block])) {
    const {body, base} = reader.pages.open(page);
    hash.update(`${page}:`).update(body);
    if (body[0] !== INNER_PAGE) continue;
    met.add(formOf(reader, page));
    if (base !== 0 && base < pruned && page >= pruned) met.add("of a base of a pruned block");
  }
  return hash.digest("hex");
}

/** Keeps the whole page of each that is put from now on. */
function keepPuts(batch: WriteBatch): Map<number, Buffer> {
  const puts = new Map<number, Buffer>();
  const putPage = batch.putPage.bind(batch);
  batch.putPage = (encode, before) => {
    const page = putPage(encode, before);
    puts.set(page, encode(0));
    return page;
  };
  return puts;
}

/** What a walk knows of its store. */
interface Held {
  /** The pages of each block that is held, or was until it was pruned, by block. */
  readonly digests: readonly string[];
  readonly hashes: readonly Uint8Array[];
  /** Pages that belong to a block and that none of its trees reaches, with the block. */
  readonly holes: ReadonlyMap<number, number>;
  readonly finalized: number;
}

class Walk {
  private store: StateStore;
  private readonly image: KillImage;
  private readonly open: () => Promise<StateStore>;
  private readonly dice: Random;
  private digests: string[] = [];
  private hashes: Uint8Array[] = [];
  private holes = new Map<number, number>();
  private finalized = -1;
  private made = 0;

  constructor(store: StateStore, open: () => Promise<StateStore>, image: KillImage, seed: number) {
    this.store = store;
    this.image = image;
    this.open = open;
    this.dice = new Random(seed, 0);
  }

  async take(step: Step): Promise<void> {
    const {digests, hashes, finalized} = this;
    const before = {digests: [...digests], hashes: [...hashes], holes: new Map(this.holes), finalized};
    if (step.kill !== undefined) this.image.arm(step.kill);
    if (step.kind === "blocks") await this.addBlocks(step.count, step.finalizes);
    else if (step.kind === "rollback") await this.removeBlocks(step.blocks);
    else {
      let left = step.writes;
      await this.prune(step.history, step.pages, () => left-- > 0);
      if (step.restarts) await this.restart();
    }
    await this.requireKept();
    if (step.kill !== undefined) await this.resume(before);
  }

  /** Goes on from what a kill within the last step left. @param before - the step */
  private async resume(before: Held): Promise<void> {
    await this.store.close();
    const acknowledged = await this.image.restore();
    this.store = await this.open();
    if (acknowledged === undefined) return;
    const {reader} = this.store;
    const latest = (await reader.latest()) ?? -1;
    const finalized = reader.readFinalized() ?? -1;
    const least = Math.min(before.digests.length, this.digests.length) - 1;
    assert.ok(latest >= Math.max(acknowledged, least), `${latest} of ${acknowledged}, ${least}`);
    assert.ok(finalized >= before.finalized && finalized <= this.finalized);
    // Of the longer of both chains, the other one is a part.
    const isLonger = this.digests.length > before.digests.length;
    this.digests = (isLonger ? this.digests : before.digests).slice(0, latest + 1);
    this.hashes = (isLonger ? this.hashes : before.hashes).slice(0, latest + 1);
    // The write that is cut may come after the step has filled some.
    const stored = new Set(await storedPages(this.store));
    const filled = [...this.holes].filter(([page]) => stored.has(page));
    this.holes = new Map([...before.holes, ...filled].filter(([, block]) => block <= latest));
    this.finalized = finalized;
    await this.requireKept();
  }

  /** Ends what was begun, and what is not kept now. */
  async end(history: History): Promise<void> {
    const run = readRun(this.store.reader);
    const before = await PrunedBlocks.read(this.store.reader);
    if (run !== undefined) before.add(run.first, run.next - 1);
    assert.equal(await this.prune(history, 100, () => true), true);
    assert.equal(readRun(this.store.reader), undefined);
    const kept = await this.requireKept();
    const lastEnd = this.lastEnd() ?? -1;
    const isKept = (block: number): boolean => {
      if (block >= this.finalized || history.kind === "all") return true;
      return history.kind === "newest"
        ? block > this.finalized - history.blocks
        : block > lastEnd || block % 3 === 0;
    };
    const blocks = this.digests.map((_, block) => block);
    assert.deepEqual(
      kept,
      blocks.filter(block => isKept(block) && !before.has(block)),
    );
    const holes = [...this.holes].filter(([, block]) => kept.includes(block)).map(([page]) => page);
    const expected = [...reachablePages(this.store.reader, kept), ...holes].sort((a, b) => a - b);
    assert.deepEqual(await storedPages(this.store), expected);
    const {directory} = this.store;
    await this.store.close();
    assert.deepEqual((await checkStore(directory)).found, []);
  }

  private async addBlocks(count: number, finalizes: number): Promise<void> {
    const writer = await BlockWriter.create(this.store);
    const puts = keepPuts(writer.batch);
    const first = this.digests.length;
    for (let block = first; block < first + count; block++) {
      const header = {number: block, hash: bytes(32, `block ${this.made++}`)};
      if (this.dice.below(3) === 0)
        await assert.rejects(applyBlock(writer, header, this.dice, WRONG_ROOT), {
          code: "STATE_ROOT_MISMATCH",
        });
      await applyBlock(writer, header, this.dice);
      this.hashes.push(header.hash);
      if (this.dice.below(2) === 0) await writer.flush();
    }
    this.finalized = Math.min(Math.max(this.finalized, first + count - 1), this.finalized + finalizes);
    if (this.finalized >= 0) writer.markFinalized(this.finalized);
    await writer.flush();
    for (let block = first; block < first + count; block++) {
      const {reader} = this.store;
      for (const page of reachablePages(reader, [block]))
        assert.ok(puts.get(page)?.equals(reader.pages.open(page).body) ?? true, `page ${page}`);
      this.digests.push(digestOf(this.store, block));
      await this.fillHoles(block);
    }
  }

  /** Writes a page into each place that a refused block has left, as a block does that is sealed in parts. */
  private async fillHoles(block: number): Promise<void> {
    const {reader, db} = this.store;
    const since = block === 0 ? FIRST_PAGE : (reader.readHeaderRecord(block - 1)?.nextPage as number);
    const reached = new Set(reachablePages(reader, [block]));
    for (let page = since; page < reader.blockOrThrow(block).nextPage; page++) {
      if (reached.has(page)) continue;
      const key = pageKey(page);
      await db.put(key, sealRecord(key, Buffer.from("L")));
      this.holes.set(page, block);
    }
  }

  private async removeBlocks(blocks: number): Promise<void> {
    const to = Math.max(this.digests.length - 1 - blocks, this.finalized, 0);
    if (to >= this.digests.length) return;
    await this.store.rollback(to);
    if (this.digests.length > to + 1) met.add("rollback");
    this.digests.length = to + 1;
    this.hashes.length = to + 1;
    for (const [page, block] of this.holes) if (block > to) this.holes.delete(page);
  }

  private prune(history: History, pages: number, goesOn: () => boolean): Promise<boolean> {
    const from = (block: number) => findEnd(block, this.finalized);
    const retention = createRetention(history, {from, last: () => this.lastEnd()});
    return pruneStore(this.store, retention, {pages, blocks: 2, goesOn});
  }

  private lastEnd(): number | undefined {
    return this.finalized < 0 ? undefined : this.finalized - (this.finalized % 3);
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
    let prunedUntil = FIRST_PAGE;
    for (const [block, digest] of this.digests.entries()) {
      assert.equal(pruned.has(block), reader.readPruned(block) !== undefined, `block ${block}`);
      assert.equal(pruned.has(block), reader.readBlock(block) === undefined, `block ${block}`);
      const hash = this.hashes[block] as Uint8Array;
      assert.deepEqual([...(reader.readHeaderRecord(block)?.header.hash ?? [])], [...hash]);
      assert.equal(reader.findBlock(hash), block);
      if (pruned.has(block)) {
        assert.ok(block < this.finalized, `block ${block}`);
        assert.throws(() => reader.blockOrThrow(block), {code: "BLOCK_PRUNED"});
        if (kept.length === 0) prunedUntil = reader.headerRecordOrThrow(block).nextPage;
      } else {
        assert.equal(digestOf(this.store, block, prunedUntil), digest, `block ${block}`);
        kept.push(block);
      }
    }
    if (kept[0] !== undefined) assert.equal(reader.readEarliest(), kept[0]);
    return kept;
  }
}

test("kept blocks stay as they were while pruning comes and goes between imports, rollbacks and starts", async t => {
  const walks = {
    seed: fc.nat(),
    suite: fc.constantFrom("sha256", "keccak"),
    taken: fc.array(steps, {minLength: 5, maxLength: 25}),
    last: fc.constantFrom<History>(ALL, {kind: "newest", blocks: 2}, {kind: "finalizations"}),
  };
  const property = fc.asyncProperty(fc.record(walks), async ({seed, suite, taken, last}) => {
    const directory = join(makeTemporaryFolder(), "db");
    const open = () =>
      StateStore.open({directory, role: "owner", createIfMissing: true, cacheBytes: 1 << 16, suite});
    try {
      const walk = new Walk(await open(), open, new KillImage(t, directory), seed);
      for (const step of taken) await walk.take(step);
      await walk.end(last);
    } finally {
      t.mock.restoreAll();
    }
  });
  const long = {suite: fc.constant("sha256"), taken: fc.array(steps, {minLength: 15, maxLength: 15})};
  const examples = sameExamples(fc.record({...walks, ...long}), 1).map((walk): [typeof walk] => [walk]);
  await fc.assert(property, {numRuns: propertyRuns(3), includeErrorInReport: true, examples});
  assert.deepEqual([...met].sort(), [...FORMS, "of a base of a pruned block", "rollback"].sort());
});
