/** Searching the hKey index: a bucket, and directories that are damaged. */
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
} from "../../../../storage/page/indexPage.ts";
import {edgeLeaf, searchBucket, searchIndex} from "../../../../storage/tree/hKeyIndex.ts";
import {hKeyFrom, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

function putDirectory(pages: MemoryPages, children: Readonly<Record<string, number>>): number {
  const all: number[] = new Array(DIRECTORY_CHILDREN).fill(0);
  for (const [nibble, page] of Object.entries(children)) all[Number.parseInt(nibble, 16)] = page;
  return pages.putPage(spare => encodeDirectory(all, spare));
}

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
