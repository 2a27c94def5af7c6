/** Searching the hKey index: keys, neighbours and edges, in buckets and directories made by hand. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {
  BUCKET,
  bucketEntries,
  DIRECTORY_CHILDREN,
  ENTRY_BYTES,
  encodeBucket,
  encodeDirectory,
  encodeEntry,
  entryHKey,
  entryLeafIndex,
  nibbleAt,
  searchEntries,
} from "../../../../storage/page/indexPage.ts";
import {edgeLeaf, searchBucket, searchIndex} from "../../../../storage/tree/hKeyIndex.ts";
import {listIndex} from "../../../../storage/tree/indexList.ts";
import {hKeyFrom, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

/** @returns the page of a bucket of keys given by their first digits, ascending, and their leaf indexes */
function putBucket(pages: MemoryPages, leaves: Readonly<Record<string, number>>): number {
  const entries = Object.entries(leaves).map(([digits, leafIndex]) =>
    encodeEntry(hKeyFrom(digits), leafIndex),
  );
  return pages.putPage(spare => encodeBucket(Buffer.concat(entries), spare));
}

function putDirectory(pages: MemoryPages, children: Readonly<Record<string, number>>): number {
  const all: number[] = new Array(DIRECTORY_CHILDREN).fill(0);
  for (const [nibble, page] of Object.entries(children)) all[Number.parseInt(nibble, 16)] = page;
  return pages.putPage(spare => encodeDirectory(all, spare));
}

/** Keys 31, 35 | 5a1, 5a7 (two directories deep) | c0, with leaf indexes 2 .. 6. */
function makeIndex(): {pages: MemoryPages; root: number} {
  const pages = new MemoryPages();
  const three = putBucket(pages, {31: 2, 35: 3});
  const five = putDirectory(pages, {a: putBucket(pages, {"5a1": 4, "5a7": 5})});
  const twelve = putBucket(pages, {c0: 2 ** 40 - 1});
  return {pages, root: putDirectory(pages, {3: three, 5: five, c: twelve})};
}

test("a key is found where its nibbles lead, with the bucket that has it", () => {
  const {pages, root} = makeIndex();
  const expected = {31: 2, 35: 3, "5a1": 4, "5a7": 5, c0: 2 ** 40 - 1};
  for (const [digits, leafIndex] of Object.entries(expected)) {
    const shown: Buffer[] = [];
    const found = searchIndex(pages, root, 0, hKeyFrom(digits), entries => shown.push(entries));
    assert.deepEqual(found, {kind: "exact", leafIndex});
    assert.equal(shown.length, 1);
    assert.ok(searchEntries(shown[0] as Buffer, hKeyFrom(digits)) >= 0);
  }
});

test("an absent key has the nearest key of its bucket or directory named, on one side", () => {
  const {pages, root} = makeIndex();
  const cases = {
    30: {kind: "higher", leafIndex: 2},
    33: {kind: "lower", leafIndex: 2},
    36: {kind: "lower", leafIndex: 3},
    // No child 5 1: the only one of that directory is above.
    51: {kind: "higher", leafIndex: 4},
    "5f": {kind: "lower", leafIndex: 5},
    // No child 4: the greatest key under 3, from a bucket.
    40: {kind: "lower", leafIndex: 3},
    // No child 7: the greatest key under 5, through two pages.
    77: {kind: "lower", leafIndex: 5},
    // None below 0: the smallest above.
    "00": {kind: "higher", leafIndex: 2},
    ff: {kind: "lower", leafIndex: 2 ** 40 - 1},
  };
  for (const [digits, expected] of Object.entries(cases)) {
    const found = searchIndex(pages, root, 0, hKeyFrom(digits), () => assert.fail(`${digits} is not there`));
    assert.deepEqual(found, expected, digits);
  }
});

test("the edges of a sub-tree are its smallest and its greatest key", () => {
  const {pages, root} = makeIndex();
  assert.deepEqual([edgeLeaf(pages, root, false), edgeLeaf(pages, root, true)], [2, 2 ** 40 - 1]);
});

test("all keys are listed in order", () => {
  const {pages, root} = makeIndex();
  const listed = [...listIndex(pages, root)].map(({hKey, leafIndex}) => [
    Buffer.from(hKey).toString("hex"),
    leafIndex,
  ]);
  const keys = {31: 2, 35: 3, "5a1": 4, "5a7": 5, c0: 2 ** 40 - 1};
  assert.deepEqual(
    listed,
    Object.entries(keys).map(([digits, i]) => [hKeyFrom(digits).toString("hex"), i]),
  );
});

test("an index that leads in a circle is RECORD_DAMAGED, not searched for ever", () => {
  const pages = new MemoryPages();
  const page = putDirectory(pages, {0: 1});
  assert.throws(() => searchIndex(pages, page, 0, hKeyFrom("0")), {code: "RECORD_DAMAGED"});
  assert.throws(() => edgeLeaf(pages, page, true), {code: "RECORD_DAMAGED"});
});

test("a page that is neither directory nor bucket is RECORD_DAMAGED", () => {
  const pages = new MemoryPages();
  const page = pages.putPage(spare => Buffer.alloc(40 + spare, 0x4c));
  assert.throws(() => searchIndex(pages, page, 0, hKeyFrom("0")), {code: "RECORD_DAMAGED"});
});

test("a bucket is searched as its sorted keys would be one by one", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(99), {minLength: 1, maxLength: 32}), fc.nat(99), (names, asked) => {
      const sorted = names.map(hKeyOf).sort(Buffer.compare);
      const page = encodeBucket(Buffer.concat(sorted.map((hKey, i) => encodeEntry(hKey, i + 2))), 0);
      const entries = bucketEntries(page);
      assert.deepEqual(
        [page[0], page[1], entries.length],
        [BUCKET, names.length, names.length * ENTRY_BYTES],
      );
      for (const [i, hKey] of sorted.entries()) {
        assert.deepEqual(entryHKey(entries, i), hKey);
        assert.equal(entryLeafIndex(entries, i), i + 2);
      }
      const key = hKeyOf(asked);
      const below = sorted.filter(hKey => Buffer.compare(hKey, key) < 0).length;
      const {kind, leafIndex} = searchBucket(entries, key);
      if (names.includes(asked)) assert.deepEqual([kind, leafIndex], ["exact", below + 2]);
      else if (below > 0) assert.deepEqual([kind, leafIndex], ["lower", below + 1]);
      else assert.deepEqual([kind, leafIndex], ["higher", 2]);
    }),
  );
});

test("nibbles are a key's hex digits", () => {
  const hKey = hKeyOf("nibbles");
  const digits = Array.from({length: 64}, (_, depth) => nibbleAt(hKey, depth).toString(16));
  assert.equal(digits.join(""), hKey.toString("hex"));
});
