/** Which pages a tree has, against the drawing in geometry.ts and plain counting. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  childOnPath,
  childrenPerPage,
  LEAVES_PER_PAGE,
  lowestHeight,
  POSITIONS_PER_PAGE,
  pageRootHeight,
  rootLevel,
  rowCount,
} from "../../../../storage/page/geometry.ts";

const LEVELS = POSITIONS_PER_PAGE.length;
const leafIndex = fc.oneof(fc.nat(5000), fc.bigInt(0n, 2n ** 40n - 2n).map(Number));

test("page roots are at heights 3, 5, 7, 9, 13, ... 40, and rows reach from the row under the children's roots", () => {
  const levels = Array.from({length: LEVELS}, (_, level) => level);
  assert.deepEqual(levels.map(pageRootHeight), [3, 5, 7, 9, 13, 17, 21, 25, 29, 33, 37, 40]);
  assert.deepEqual(levels.map(lowestHeight), [0, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36]);
  assert.deepEqual(levels.map(rowCount), [2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4, 3]);
  // A path finds each height from 0 up to one below the top page's root in exactly one page.
  const heights = levels.flatMap(level =>
    Array.from({length: rowCount(level)}, (_, row) => lowestHeight(level) + row),
  );
  assert.deepEqual(
    heights,
    Array.from({length: 39}, (_, height) => height),
  );
});

test("the root level is the lowest whose page covers all positions, up to 2^40 - 1 of them", () => {
  for (let level = 0; level < LEVELS - 1; level++) {
    const positions = POSITIONS_PER_PAGE[level] as number;
    assert.deepEqual([rootLevel(positions), rootLevel(positions + 1)], [level, level + 1]);
  }
  assert.equal(rootLevel(2), 0);
  assert.equal(rootLevel(2 ** 40 - 1), LEVELS - 1);
  assert.throws(() => rootLevel(2 ** 40), {code: "TREE_FULL"});
});

test("the children on a path lead to the leaf's page", () => {
  fc.assert(
    fc.property(leafIndex, index => {
      let pageIndex = 0;
      for (let level = LEVELS - 1; level > 0; level--) {
        const child = childOnPath(level, index);
        assert.ok(child >= 0 && child < childrenPerPage(level));
        pageIndex = pageIndex * childrenPerPage(level) + child;
        assert.equal(pageIndex, Math.floor(index / (POSITIONS_PER_PAGE[level - 1] as number)));
      }
      assert.equal(pageIndex, Math.floor(index / LEAVES_PER_PAGE));
    }),
  );
});
