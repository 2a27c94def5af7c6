import assert from "node:assert/strict";
import {test} from "node:test";
import type {BlockDifference} from "../../../../storage/block/blockDifference.ts";
import {performStep} from "../../../../storage/prune/pruneWriter.ts";
import {unreachedPages} from "../../../../storage/prune/unreachedPages.ts";
import {reachablePages, storedPages} from "../../../support/stores/reachablePages.ts";
import {applyWithTrie, createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

const LATEST = 14;
const STEP = 2;
/** With the other four, and the two ends, 64 leaves: as many as two levels hold. */
const FILL = 58;

test("neither the newest finalized block nor one above it is pruned, nor any by a run that is empty", async () => {
  const written = await WrittenStore.create(5);
  const {store, host} = written;
  try {
    const retire = (first: number, next: number) =>
      performStep(store, {kind: "retire", run: {first, next}, from: first, until: next});
    await assert.rejects(retire(0, 1), {code: "FINALIZED"});
    host.writer.markFinalized(3);
    await host.writer.flush();
    for (const [first, next] of [
      [0, 4],
      [3, 4],
      [4, 6],
      [2, 2],
    ] as const)
      await assert.rejects(retire(first, next), {code: "FINALIZED"});
    for (let block = 0; block <= 5; block++) assert.equal(store.reader.readPruned(block), undefined);
    await retire(0, 3);
    assert.equal(store.reader.readEarliest(), 3);
  } finally {
    await written.close();
  }
});

/**
 * Account n has storage, which every n-th block changes: pages of one block are reached by up to five. Block 0 fills an account tree of
 * two levels, block 7 changes so much that pages of the trie are whole again, and block 11 makes the third level.
 */
function createUnevenBlock(number: number): BlockDifference {
  const block = createBlock(number, 1);
  const fill = (from: number, until: number): void => {
    const change = {balance: BigInt(number + 1) << 240n, code: Uint8Array.of(number)};
    for (let account = from; account < until; account++)
      block.accounts.add({address: new Uint8Array(20).fill(account), change});
  };
  if (number % 7 === 0) fill(0x10, 0x10 + FILL);
  if (number === 11) fill(0xc0, 0xc1);
  for (const every of [2, 3, 5]) {
    if (number % every !== 0) continue;
    const storage = [{slot: new Uint8Array(32).fill(every), value: new Uint8Array(32).fill(number + 1)}];
    block.accounts.add({address: new Uint8Array(20).fill(every), change: {storage}});
  }
  return block;
}

for (const {what, begins, runs} of [
  {what: "the oldest blocks, again and again", begins: undefined, runs: ["0-3", "3-4", "4-9", "9-14"]},
  {
    what: "blocks between kept ones, then those too",
    begins: undefined,
    runs: ["1-3", "4-5", "5-8", "9-10", "10-11", "0-11", "11-13"],
  },
  {what: "the first blocks of a store that begins later", begins: 5, runs: ["5-8", "8-11"]},
])
  test(`each step leaves the oldest kept block known, and each page is given once: ${what}`, async () => {
    const written = await (begins === undefined
      ? WrittenStore.create(-1)
      : WrittenStore.begun(begins, begins));
    const {store, host} = written;
    const {reader} = store;
    try {
      const from = begins ?? -1;
      for (let number = from + 1; number <= LATEST; number++)
        if (begins === undefined) {
          await applyWithTrie(host.writer, createUnevenBlock(number));
          await host.writer.flush();
        } else await written.apply(createUnevenBlock(number));
      host.writer.markFinalized(LATEST);
      await host.writer.flush();
      let kept = Array.from({length: LATEST + 1}, (_, block) => block).filter(block => block >= from);
      for (const name of runs) {
        const [first, next] = name.split("-").map(Number) as [number, number];
        const run = {first, next};
        for (let at = first; at < next; at += STEP) {
          const until = Math.min(at + STEP, next);
          await performStep(store, {kind: "retire", run, from: at, until});
          kept = kept.filter(block => block < at || block >= until);
          for (let block = Math.max(from, 0); block <= LATEST; block++)
            assert.equal(reader.readBlock(block) !== undefined, kept.includes(block), `${name}: ${block}`);
          assert.equal(reader.readEarliest(), kept[0], `${name}: ${until}`);
        }
        const before = (await storedPages(store)).length;
        const given = [...(await unreachedPages(reader, run))].filter(page => page !== undefined);
        assert.equal(new Set(given).size, given.length, name);
        await performStep(store, {kind: "remove", pages: Float64Array.from(given)});
        await performStep(store, {kind: "end"});
        const left = await storedPages(store);
        assert.deepEqual(left, reachablePages(reader, kept), name);
        assert.ok(left.length < before);
      }
    } finally {
      await written.close();
    }
  });

test("accounts keep their storage when the account tree has grown out of one page", async () => {
  const written = await WrittenStore.create(-1);
  const {store, host} = written;
  try {
    for (let number = 0; number < 4; number++) {
      const block = createBlock(number, 1);
      const storage = [{slot: new Uint8Array(32).fill(1), value: new Uint8Array(32).fill(2)}];
      // Five accounts with storage, and two blocks later ten others.
      const [from, until] = [
        [0x10, 0x15],
        [0, 0],
        [0x20, 0x2a],
        [0, 0],
      ][number] as [number, number];
      for (let account = from; account < until; account++)
        block.accounts.add({address: new Uint8Array(20).fill(account), change: {storage}});
      await applyWithTrie(host.writer, block);
    }
    host.writer.markFinalized(3);
    await host.writer.flush();
    for (const first of [0, 1]) {
      const run = {first, next: first + 1};
      await performStep(store, {kind: "retire", run, from: first, until: first + 1});
      const given = [...(await unreachedPages(store.reader, run))].filter(page => page !== undefined);
      await performStep(store, {kind: "remove", pages: Float64Array.from(given)});
      await performStep(store, {kind: "end"});
    }
    assert.deepEqual(await storedPages(store), reachablePages(store.reader, [2, 3]));
  } finally {
    await written.close();
  }
});
