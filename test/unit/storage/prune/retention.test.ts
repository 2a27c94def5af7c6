import assert from "node:assert/strict";
import {test} from "node:test";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";
import {createRetention, MAX_RUN_BLOCKS} from "../../../../storage/prune/retention.ts";

const ENDS = [3, 7, 12];
const findEnd = (from: number) => ENDS.find(end => end >= from);

test("all: nothing is pruned", () => {
  assert.equal(createRetention({kind: "all"}, findEnd).nextRun(new PrunedBlocks(), 100), undefined);
});

test("newest N: the blocks below the newest N finalized ones are pruned", () => {
  const retention = createRetention({kind: "newest", blocks: 4}, findEnd);
  const pruned = new PrunedBlocks();
  assert.equal(retention.nextRun(pruned, 3), undefined);
  assert.deepEqual(retention.nextRun(pruned, 9), {first: 0, next: 6});
  assert.equal(retention.backlog(pruned, 9), 6);
  pruned.add(0, 5);
  assert.equal(retention.nextRun(pruned, 9), undefined);
  assert.deepEqual(retention.nextRun(pruned, 10), {first: 6, next: 7});
});

test("a long backlog is pruned in runs of limited length", () => {
  const retention = createRetention({kind: "newest", blocks: 1}, findEnd);
  assert.deepEqual(retention.nextRun(new PrunedBlocks(), 1_000_000), {first: 0, next: MAX_RUN_BLOCKS});
});

test("finalizations: what ended one is kept, and the newest finalized block as long as it is that", () => {
  const retention = createRetention({kind: "finalizations"}, findEnd);
  const pruned = new PrunedBlocks();
  const prune = (finalized: number) => {
    for (;;) {
      const run = retention.nextRun(pruned, finalized);
      if (run === undefined) return;
      pruned.add(run.first, run.next - 1);
    }
  };
  prune(9);
  assert.deepEqual(pruned.held(9, 9).ranges, [
    [9, 9],
    [7, 7],
    [3, 3],
  ]);
  prune(14);
  assert.deepEqual(pruned.held(16, 9).ranges, [
    [14, 16],
    [12, 12],
    [7, 7],
    [3, 3],
  ]);
  assert.equal(retention.backlog(pruned, 14), 0);
});
