import assert from "node:assert/strict";
import {test} from "node:test";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";
import {createRetention, MAX_RUN_BLOCKS} from "../../../../storage/prune/retention.ts";

// Which blocks are kept, property/pruning shows.

test("a long backlog is pruned in runs of limited length", () => {
  const retention = createRetention(
    {kind: "newest", blocks: 1},
    {from: () => undefined, last: () => undefined},
  );
  assert.deepEqual(retention.nextRun(new PrunedBlocks(), 1_000_000), {first: 0, next: MAX_RUN_BLOCKS});
  assert.equal(retention.backlog(new PrunedBlocks(), 1_000_000), 1_000_000);
});

test("finalizations: one that was recorded after the finalized block was read has its turn later", () => {
  const from = (block: number) => [3, 7].find(end => end >= block);
  const retention = createRetention({kind: "finalizations"}, {from, last: () => 7});
  const pruned = new PrunedBlocks();
  assert.deepEqual(retention.nextRun(pruned, 3), {first: 0, next: 3});
  pruned.add(0, 2);
  assert.equal(retention.nextRun(pruned, 3), undefined);
  assert.deepEqual([retention.backlog(pruned, 3), retention.backlog(pruned, 7)], [0, 3]);
  assert.deepEqual(retention.nextRun(pruned, 7), {first: 4, next: 7});
});

test("a run ends at a block whose state is stored and that is final: above a gap, or below it", () => {
  const gapped = (): PrunedBlocks => {
    const pruned = new PrunedBlocks();
    pruned.add(10, 20);
    return pruned;
  };
  const newest = createRetention({kind: "newest", blocks: 5}, {from: () => undefined, last: () => undefined});
  const ends = createRetention(
    {kind: "finalizations"},
    {from: block => (block <= 15 ? 15 : 30), last: () => 15},
  );
  for (const retention of [newest, ends]) {
    const pruned = gapped();
    assert.deepEqual(retention.nextRun(pruned, 18), {first: 0, next: 9});
    pruned.add(0, 8);
    assert.equal(retention.nextRun(pruned, 18), undefined);
    assert.equal(retention.backlog(pruned, 18), 0);
  }
  assert.deepEqual(newest.nextRun(gapped(), 22), {first: 0, next: 21});
  assert.deepEqual(newest.nextRun(gapped(), 30), {first: 0, next: 26});
  assert.deepEqual(ends.nextRun(gapped(), 22), {first: 0, next: 21});
});
