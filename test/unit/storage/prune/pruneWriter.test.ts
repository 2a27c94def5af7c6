import assert from "node:assert/strict";
import {test} from "node:test";
import type {BlockDifference} from "../../../../storage/block/blockDifference.ts";
import {performStep} from "../../../../storage/prune/pruneWriter.ts";
import {unreachedPages} from "../../../../storage/prune/unreachedPages.ts";
import {reachablePages, storedPages} from "../../../support/stores/reachablePages.ts";
import {createBlock, WrittenStore} from "../../../support/stores/writtenStore.ts";

const LATEST = 14;
const STEP = 2;

test("neither the newest finalized block nor one above it is pruned, nor any by a run that is empty", async () => {
  const written = await WrittenStore.create(5);
  const {store, host} = written;
  try {
    const retire = (first: number, next: number) =>
      performStep(store, {kind: "retire", run: {first, next}, from: first, until: next});
    await assert.rejects(retire(0, 1), {code: "FINALIZED"});
    host.writer().markFinalized(3);
    await host.writer().flush();
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

/** Account n has storage, which every n-th block changes: pages of one block are reached by up to five. */
function createUnevenBlock(number: number): BlockDifference {
  const block = createBlock(number, 1);
  for (const every of [2, 3, 5]) {
    if (number % every !== 0) continue;
    const storage = [{slot: new Uint8Array(32).fill(every), value: new Uint8Array(32).fill(number + 1)}];
    block.accounts.add({address: new Uint8Array(20).fill(every), change: {storage}});
  }
  return block;
}

for (const {what, begins, runs} of [
  {what: "the oldest blocks, again and again", begins: undefined, runs: ["0-3", "3-4", "4-9", "9-14"]},
  {what: "blocks between kept ones, then those too", begins: undefined, runs: ["1-3", "4-8", "0-9", "9-13"]},
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
      for (let number = from + 1; number <= LATEST; number++) await written.apply(createUnevenBlock(number));
      host.writer().markFinalized(LATEST);
      await host.writer().flush();
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
