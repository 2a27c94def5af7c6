/** The hKey index being changed, against a sorted list; older versions stay as they were. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {listIndex} from "../../../../storage/check/checkIndex.ts";
import {IndexWriter} from "../../../../storage/commit/indexWriter.ts";
import {hKeyFrom, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

type Leaves = ReadonlyMap<string, number>;

function keysOf(pages: MemoryPages, root: number): [key: string, leafIndex: number][] {
  if (root === 0) return [];
  return [...listIndex(pages, root)].map(({hKey, leafIndex}) => [
    Buffer.from(hKey).toString("hex"),
    leafIndex,
  ]);
}

function sorted(leaves: Leaves): [key: string, leafIndex: number][] {
  return [...leaves].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What `search` may say: the key, or a neighbour on the side that it names. */
function checkSearch(index: IndexWriter, leaves: Leaves, hKey: Buffer): void {
  const key = hKey.toString("hex");
  const found = index.search(hKey);
  const all = sorted(leaves);
  const below = all.filter(([other]) => other < key).at(-1)?.[1];
  const above = all.find(([other]) => other > key)?.[1];
  if (all.length === 0) assert.equal(found, undefined);
  else if (leaves.has(key)) assert.deepEqual(found, {kind: "exact", leafIndex: leaves.get(key)});
  else assert.equal(found?.leafIndex, found?.kind === "lower" ? below : above);
}

test("inserts and removes, sealed now and then, leave every sealed version as it was", () => {
  /** Few keys, so that they are removed too; many share their first digits, so that buckets split deep. */
  const key = fc
    .nat(150)
    .map(n => (n % 3 === 0 ? hKeyFrom(`abcdef${n.toString(16).padStart(2, "0")}`) : hKeyOf(n)));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(9)), {minLength: 1, maxLength: 200}), steps => {
      const pages = new MemoryPages();
      const index = new IndexWriter(pages, 0);
      const leaves = new Map<string, number>();
      const versions: [root: number, leaves: Leaves][] = [];
      for (const [i, [hKey, dice]] of steps.entries()) {
        checkSearch(index, leaves, hKey);
        const name = hKey.toString("hex");
        if (leaves.delete(name)) index.remove(hKey);
        else {
          leaves.set(name, i + 2);
          index.insert(hKey, i + 2);
        }
        if (dice === 0) versions.push([index.seal(), new Map(leaves)]);
      }
      versions.push([index.seal(), leaves]);
      for (const [root, expected] of versions) assert.deepEqual(keysOf(pages, root), sorted(expected));
    }),
    {numRuns: 60},
  );
});

test("a version that did not change writes no page", () => {
  const pages = new MemoryPages();
  const index = new IndexWriter(pages, 0);
  index.insert(hKeyOf(1), 2);
  assert.deepEqual([index.seal(), index.seal(), pages.count], [1, 1, 1]);
});

test("a key is not inserted twice, and one that is absent is not removed", () => {
  const index = new IndexWriter(new MemoryPages(), 0);
  assert.throws(() => index.remove(hKeyOf(1)), RangeError);
  index.insert(hKeyOf(1), 2);
  assert.throws(() => index.insert(hKeyOf(1), 3), RangeError);
  assert.throws(() => index.remove(hKeyOf(2)), RangeError);
});
