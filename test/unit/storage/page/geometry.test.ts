/** Which pages a tree has, against the drawing in geometry.ts and plain counting. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  CHILDREN,
  childOnPath,
  INNER_ROWS,
  LEAVES_PER_PAGE,
  leavesPerPage,
  levelOfHeight,
  lowestHeight,
  occupied,
  POSITIONS_PER_PAGE,
  pageRootHeight,
  rootHeight,
  rootLevel,
  SMALL_TREE,
} from "../../../../storage/page/geometry.ts";

const LEVELS = POSITIONS_PER_PAGE.length;
const leafIndex = fc.oneof(fc.nat(5000), fc.bigInt(0n, 2n ** 38n - 2n).map(Number));

test("page roots are at heights 2, 6, 10, ... 38, and rows reach from the row under the children's roots", () => {
  const levels = Array.from({length: LEVELS}, (_, level) => level);
  assert.deepEqual(levels.map(pageRootHeight), [2, 6, 10, 14, 18, 22, 26, 30, 34, 38]);
  assert.deepEqual(levels.map(lowestHeight), [0, 1, 5, 9, 13, 17, 21, 25, 29, 33]);
  // A path finds each height from 0 up to one below the top page's root in exactly one page.
  const heights = levels.flatMap(level =>
    Array.from({length: level === 0 ? 1 : INNER_ROWS}, (_, row) => lowestHeight(level) + row),
  );
  assert.deepEqual(
    heights,
    Array.from({length: 37}, (_, height) => height),
  );
  for (const height of heights) {
    const level = levelOfHeight(height);
    assert.ok(height >= lowestHeight(level) && height < pageRootHeight(level) - 1);
  }
});

test("the root level is the lowest whose page covers all positions, up to 2^38 of them", () => {
  for (let level = 1; level < LEVELS - 1; level++) {
    const positions = POSITIONS_PER_PAGE[level] as number;
    assert.deepEqual([rootLevel(positions), rootLevel(positions + 1)], [level, level + 1]);
    assert.equal(2 ** rootHeight(positions), positions);
  }
  assert.equal(rootLevel(2 ** 38), LEVELS - 1);
  assert.throws(() => rootLevel(2 ** 38 + 1), {code: "TREE_FULL"});
});

test("a tree of up to 8 positions is one leaf page", () => {
  for (let positions = 2; positions <= SMALL_TREE; positions++) {
    assert.deepEqual([rootLevel(positions), rootHeight(positions), leavesPerPage(positions)], [0, 3, 8]);
    assert.equal(occupied(0, 0, positions), positions);
  }
  assert.deepEqual([rootLevel(9), rootHeight(9), leavesPerPage(9)], [1, 6, 4]);
  assert.deepEqual([occupied(0, 2, 9), occupied(1, 0, 9)], [1, 3]);
});

test("the children on a path lead to the leaf's page", () => {
  fc.assert(
    fc.property(leafIndex, index => {
      let pageIndex = 0;
      for (let level = LEVELS - 1; level > 0; level--) {
        const child = childOnPath(level, index);
        assert.ok(child >= 0 && child < CHILDREN);
        pageIndex = pageIndex * CHILDREN + child;
        assert.equal(pageIndex, Math.floor(index / (POSITIONS_PER_PAGE[level - 1] as number)));
      }
      assert.equal(pageIndex, Math.floor(index / LEAVES_PER_PAGE));
    }),
  );
});
