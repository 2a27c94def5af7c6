import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {PrunedBlocks} from "../../../../storage/prune/prunedBlocks.ts";

const LAST = 30;

test("what is asked of the ranges is what is asked of the blocks one by one", () => {
  const additions = fc.array(fc.tuple(fc.nat(LAST - 1), fc.nat(8)), {maxLength: 8});
  fc.assert(
    fc.property(additions, fc.integer({min: 1, max: 12}), (ranges, limit) => {
      const pruned = new PrunedBlocks();
      const isPruned = new Array<boolean>(LAST + 1).fill(false);
      for (const [from, length] of ranges) {
        const to = Math.min(from + length, LAST - 1);
        pruned.add(from, to);
        isPruned.fill(true, from, to + 1);
      }
      const held = isPruned.flatMap((is, block) => (is ? [] : [block]));
      for (const [block, is] of isPruned.entries()) {
        assert.equal(pruned.has(block), is);
        assert.equal(
          pruned.unprunedFrom(block),
          held.find(one => one >= block),
        );
        if (!is) continue;
        const below = held.findLast(one => one < block);
        assert.deepEqual(pruned.nearest(block), {
          isMissed: false,
          below,
          above: held.find(one => one > block),
        });
      }
      const expected: [number, number][] = [];
      for (const block of held.toReversed()) {
        const newest = expected.at(-1);
        if (newest !== undefined && newest[0] === block + 1) newest[0] = block;
        else expected.push([block, block]);
      }
      assert.deepEqual(pruned.unprunedRanges(LAST, limit), {
        ranges: expected.slice(0, limit),
        count: expected.length,
      });
    }),
  );
});

test("a store that gets a later block than 0 as its first one lacks those before, which were never pruned", () => {
  const pruned = new PrunedBlocks();
  // Of the same write as the first block.
  pruned.add(8, 9);
  pruned.begin(5);
  assert.deepEqual(
    [4, 5, 7, 8, 10].map(block => pruned.has(block)),
    [false, false, false, true, false],
  );
  assert.deepEqual(pruned.unprunedRanges(12, 10).ranges, [
    [10, 12],
    [5, 7],
  ]);
});

test("gaps are pruned ranges of their own, and are cut with the blocks above", () => {
  const pruned = new PrunedBlocks();
  pruned.begin(5);
  pruned.addMissed(10, 14);
  pruned.addMissed(20, 29);
  assert.deepEqual(pruned.nearest(12), {isMissed: true, below: 9, above: 15});
  assert.deepEqual(pruned.unprunedRanges(40, 9).ranges, [
    [30, 40],
    [15, 19],
    [5, 9],
  ]);
  pruned.cut(24);
  assert.deepEqual(pruned.gapsFrom(5), [
    {from: 10, to: 14},
    {from: 20, to: 24},
  ]);
  pruned.add(5, 15);
  assert.deepEqual(pruned.gapsFrom(pruned.unprunedFrom(5)), [{from: 20, to: 24}]);
  pruned.cut(-1);
  assert.deepEqual([pruned.gapsFrom(0), pruned.has(5), pruned.has(0)], [[], false, false]);
});
