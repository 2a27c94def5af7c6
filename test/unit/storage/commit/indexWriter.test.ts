/** The hKey index being changed, against a sorted list; older versions stay as they were. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {listIndex} from "../../../../storage/check/checkIndex.ts";
import {IndexWriter} from "../../../../storage/commit/indexWriter.ts";
import {keyBytes} from "../../../../storage/page/indexPage.ts";
import {searchIndex} from "../../../../storage/tree/hKeyIndex.ts";
import {hKeyFrom, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

type Leaves = ReadonlyMap<string, number>;

function leavesOf(pages: MemoryPages, root: number): number[] {
  return root === 0 ? [] : [...listIndex(pages, root)];
}

function noLeaf(leafIndex: number): never {
  throw new Error(`leaf ${leafIndex} is not needed`);
}

function sorted(leaves: Leaves): [key: string, leafIndex: number][] {
  return [...leaves].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** What `search` may say: the key's leaf, or that of a neighbour. */
function checkSearch(index: IndexWriter, leaves: Leaves, hKey: Buffer): void {
  const key = hKey.toString("hex");
  const found = index.search(hKey);
  const all = sorted(leaves);
  const below = all.filter(([other]) => other < key).at(-1)?.[1];
  const above = all.find(([other]) => other > key)?.[1];
  if (all.length === 0) assert.equal(found, undefined);
  else if (leaves.has(key)) assert.equal(found, leaves.get(key));
  else assert.ok(found !== undefined && [below, above].includes(found));
}

test("inserts and removes, sealed now and then, leave every sealed version as it was", () => {
  /** Few keys, so that they are removed too. Many share their first bytes: buckets split deep, and need more of them. */
  const key = fc.nat(150).map(n => {
    if (n % 3 > 0) return hKeyOf(n);
    const last = n.toString(16).padStart(2, "0");
    return hKeyFrom(`abcdef${n % 2 === 0 ? last : last.padStart(2 * (n % 25), "0")}`);
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat(9)), {minLength: 1, maxLength: 200}), steps => {
      const pages = new MemoryPages();
      const hKeys: Buffer[] = [];
      const index = new IndexWriter(pages, 0, leafIndex => hKeys[leafIndex] as Buffer);
      const leaves = new Map<string, number>();
      const versions: [root: number, leaves: Leaves][] = [];
      for (const [i, [hKey, dice]] of steps.entries()) {
        checkSearch(index, leaves, hKey);
        const name = hKey.toString("hex");
        if (leaves.delete(name)) index.remove(hKey);
        else {
          leaves.set(name, i + 2);
          hKeys[i + 2] = hKey;
          index.insert(hKey, i + 2);
        }
        if (dice === 0) versions.push([index.seal(), new Map(leaves)]);
      }
      versions.push([index.seal(), leaves]);
      for (const [root, expected] of versions) {
        const leafIndexes = sorted(expected).map(([, leafIndex]) => leafIndex);
        assert.deepEqual(leavesOf(pages, root), leafIndexes);
        for (const [key, leafIndex] of expected)
          assert.equal(searchIndex(pages, root, 0, Buffer.from(key, "hex")), leafIndex);
      }
    }),
    {numRuns: 60},
  );
});

test("a version that did not change writes no page", () => {
  const pages = new MemoryPages();
  const index = new IndexWriter(pages, 0, noLeaf);
  index.insert(hKeyOf(1), 2);
  assert.deepEqual([index.seal(), index.seal(), pages.count], [1, 1, 1]);
});

test("a key is not inserted twice, and one that is absent is not removed", () => {
  const index = new IndexWriter(new MemoryPages(), 0, () => hKeyOf(1));
  assert.throws(() => index.remove(hKeyOf(1)), RangeError);
  index.insert(hKeyOf(1), 2);
  assert.throws(() => index.insert(hKeyOf(1), 3), RangeError);
  assert.throws(() => index.remove(hKeyOf(2)), RangeError);
});

test("a bucket has six bytes of its keys, or as many more as tell them apart", () => {
  const pages = new MemoryPages();
  const keys = ["00", "01", "0100000000000000aa"].map(end => hKeyFrom(`1122334455${end}`));
  const index = new IndexWriter(pages, 0, leafIndex => keys[leafIndex - 2] as Buffer);
  const bytes = keys.map((hKey, i) => {
    index.insert(hKey, i + 2);
    return keyBytes(pages.read(index.seal()));
  });
  assert.deepEqual(bytes, [6, 6, 14]);
});
