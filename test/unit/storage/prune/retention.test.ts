import assert from "node:assert/strict";
import {test} from "node:test";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";
import {createRetention, MAX_RUN_BLOCKS, type RecordedEnds} from "../../../../storage/prune/retention.ts";

function endsOf(...ends: readonly number[]): RecordedEnds {
  return {from: block => ends.find(end => end >= block), last: () => ends.at(-1)};
}

const NONE = endsOf();

test("all: nothing is pruned", () => {
  assert.equal(createRetention({kind: "all"}, NONE).nextRun(new PrunedBlocks(), 100), undefined);
});

test("newest N: the blocks below the newest N finalized ones are pruned", () => {
  const retention = createRetention({kind: "newest", blocks: 4}, NONE);
  const pruned = new PrunedBlocks();
  assert.equal(retention.nextRun(pruned, 3), undefined);
  assert.deepEqual(retention.nextRun(pruned, 9), {first: 0, next: 6});
  assert.equal(retention.backlog(pruned, 9), 6);
  pruned.add(0, 5);
  assert.equal(retention.nextRun(pruned, 9), undefined);
  assert.deepEqual(retention.nextRun(pruned, 10), {first: 6, next: 7});
});

test("a long backlog is pruned in runs of limited length", () => {
  const retention = createRetention({kind: "newest", blocks: 1}, NONE);
  assert.deepEqual(retention.nextRun(new PrunedBlocks(), 1_000_000), {first: 0, next: MAX_RUN_BLOCKS});
});

test("finalizations: what ended one is kept, and all blocks above the last one that is recorded", () => {
  const pruned = new PrunedBlocks();
  const prune = (finalized: number, ...ends: readonly number[]) => {
    const retention = createRetention({kind: "finalizations"}, endsOf(...ends));
    for (;;) {
      const run = retention.nextRun(pruned, finalized);
      if (run === undefined) return retention.backlog(pruned, finalized);
      pruned.add(run.first, run.next - 1);
    }
  };
  // Finality is ahead of layer 1: any of these blocks may end a finalization later.
  assert.equal(prune(9), 0);
  assert.equal(prune(9, 3, 7), 0);
  assert.deepEqual(pruned.held(9, 9).ranges, [
    [7, 9],
    [3, 3],
  ]);
  assert.equal(prune(14, 3, 7, 8, 12), 0);
  assert.deepEqual(pruned.held(16, 9).ranges, [
    [12, 16],
    [7, 8],
    [3, 3],
  ]);
});

test("finalizations: one that was recorded after the finalized block was read has its turn later", () => {
  const retention = createRetention({kind: "finalizations"}, endsOf(3, 7));
  const pruned = new PrunedBlocks();
  assert.deepEqual(retention.nextRun(pruned, 3), {first: 0, next: 3});
  pruned.add(0, 2);
  assert.equal(retention.nextRun(pruned, 3), undefined);
  assert.equal(retention.backlog(pruned, 3), 3);
  assert.deepEqual(retention.nextRun(pruned, 7), {first: 4, next: 7});
});
