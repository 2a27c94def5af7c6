/** Leaf pages and inner pages: what is encoded is read back, and the bytes lie as drawn. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {LEAVES_PER_PAGE, rowCount, rowStart} from "../../../../storage/page/geometry.ts";
import {
  childCount,
  childPage,
  childRootAt,
  encodeInnerPage,
  INNER_PAGE,
  innerRowsAt,
} from "../../../../storage/page/innerPage.ts";
import {
  encodeLeafPage,
  entryKeyAt,
  entryNext,
  entryPrev,
  entryValue,
  findEntry,
  LEAF_PAGE,
  leafAt,
  leafCount,
  leafRowsAt,
} from "../../../../storage/page/leafPage.ts";
import {expectKind} from "../../../../storage/page/pages.ts";

const SPARE = 4;
const index = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 40 - 1));
const bytes32 = fc.uint8Array({minLength: 32, maxLength: 32});
const leaf = fc.record({
  prev: index,
  next: index,
  hKey: bytes32,
  hVal: bytes32,
  value: fc.uint8Array({maxLength: 200}),
});

test("a leaf page gives back its leaves, deleted ones as undefined, and its rows", () => {
  const leaves = fc.array(fc.option(leaf, {nil: undefined}), {minLength: 1, maxLength: LEAVES_PER_PAGE});
  fc.assert(
    fc.property(leaves, given => {
      const rows = Buffer.alloc(rowStart(given.length, rowCount(0)) * 32, 0x5a);
      const whole = encodeLeafPage(given, rows, SPARE);
      const page = whole.subarray(0, whole.length - SPARE);
      assert.deepEqual([page[0], leafCount(page)], [LEAF_PAGE, given.length]);
      const rowsAt = leafRowsAt(given.length);
      assert.ok(page.subarray(rowsAt, rowsAt + rows.length).equals(rows));
      for (let position = 0; position < LEAVES_PER_PAGE; position++) {
        const [read, expected] = [leafAt(page, position), given[position]];
        assert.equal(findEntry(page, position) >= 0, expected !== undefined);
        if (expected === undefined) assert.equal(read, undefined);
        else {
          assert.deepEqual([read?.prev, read?.next], [expected.prev, expected.next]);
          for (const field of ["hKey", "hVal", "value"] as const)
            assert.deepEqual([...(read?.[field] ?? [])], [...expected[field]]);
        }
      }
    }),
  );
});

test("the parts of an entry are found without making a leaf of it", () => {
  const hKey = Buffer.alloc(32, 0x11);
  const given = {prev: 2 ** 40 - 1, next: 3, hKey, hVal: Buffer.alloc(32, 0x22), value: Buffer.of(9, 8)};
  const page = encodeLeafPage([undefined, given], Buffer.alloc(3 * 32), 0);
  const entry = findEntry(page, 1);
  assert.deepEqual([entryPrev(page, entry), entryNext(page, entry)], [2 ** 40 - 1, 3]);
  const keyAt = entryKeyAt(entry);
  assert.deepEqual(page.subarray(keyAt, keyAt + 64), Buffer.concat([hKey, given.hVal]));
  assert.deepEqual([...entryValue(page, 1)], [9, 8]);
});

test("an inner page gives back its children and the places of their roots", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({min: 1, max: 2 ** 31}), {minLength: 1, maxLength: 16}), small => {
      const children = small.map((page, i) => (i === 0 ? 2 ** 48 - 1 : page));
      const nodes = 2 * children.length;
      // Row 1, the children's roots, counts upwards; row 0 is zero.
      const rows = Buffer.alloc(rowStart(nodes, 2) * 32);
      for (let i = 0; i < children.length; i++) rows.fill(i + 1, (nodes + i) * 32, (nodes + i + 1) * 32);
      const page = encodeInnerPage(children, rows, SPARE);
      assert.deepEqual([page[0], childCount(page)], [INNER_PAGE, children.length]);
      assert.deepEqual(
        children.map((_, i) => childPage(page, i)),
        children,
      );
      assert.equal(innerRowsAt(children.length) + rows.length + SPARE, page.length);
      for (let i = 0; i < children.length; i++) assert.equal(page[childRootAt(page, i)], i + 1);
    }),
  );
});

test("a page of another kind than expected is RECORD_DAMAGED, and named", () => {
  const page = encodeInnerPage([1], Buffer.alloc(3 * 32), 0);
  assert.equal(expectKind(page, INNER_PAGE, 12), page);
  assert.throws(() => expectKind(page, LEAF_PAGE, 12), {
    code: "RECORD_DAMAGED",
    message: "page 12: expected kind 76, got 78",
  });
});
