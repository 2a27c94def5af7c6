/** Searching the hKey index: a bucket, and directories that are damaged. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {DIRECTORY_CHILDREN, encodeDirectory} from "../../../../storage/page/indexPage.ts";
import {edgeLeaf, searchIndex} from "../../../../storage/tree/hKeyIndex.ts";
import {hKeyFrom} from "../../../support/stores/hKeys.ts";
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
