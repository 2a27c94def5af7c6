import assert from "node:assert/strict";
import {test} from "node:test";
import {StoreError} from "../../../../storage/errors.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {encodeInnerPage} from "../../../../storage/page/innerPage.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {TreePages} from "../../../../storage/tree/treePages.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

/** Sizes around those at which a tree gets a level, and a new tree. */
const SIZES = [0, 1, 5, 6, 7, 29, 30, 31, 126, 127, 600];

test("every node of a tree of any size is the reference's, at every height up to the sub-root", () => {
  const open = new TreePages(sha256Suite, emptyTree(sha256Suite));
  const node = new Uint8Array(40);
  const pages = new MemoryPages();
  const operations = TreeOperations.create(pages);
  let count = 0;
  for (const size of SIZES) {
    while (count < size) operations.put(anySuiteKeyOf(count), ++count);
    if (size > 20) operations.delete(anySuiteKeyOf(7));
    const root = operations.writer.seal();
    open.begin(pages, root);
    for (let height = 0; height <= 40; height++)
      for (
        let index = Math.min(2 + Math.ceil(root.nextFreeNode / 2 ** height), 2 ** (40 - height)) - 1;
        index >= 0;
        index--
      ) {
        open.nodeInto(height, index, node, 4);
        const expected = operations.reference.node(height, index);
        assert.deepEqual(
          Buffer.from(node.subarray(4, 36)),
          Buffer.from(expected),
          `${height}, ${index} of ${size}`,
        );
      }
  }
});

test("a page that lacks a child or a node is damage", () => {
  const pages = new MemoryPages();
  const operations = TreeOperations.create(pages);
  for (let i = 0; i < 30; i++) operations.put(anySuiteKeyOf(i), 1);
  const root = operations.writer.seal();
  const [child] = [pages.read(root.rootPage).readUIntBE(2, 6)] as [number];
  pages.replace(root.rootPage, encodeInnerPage([child], new Uint8Array(3 * 32), 0));
  const open = new TreePages(sha256Suite, emptyTree(sha256Suite));
  open.begin(pages, root);
  const isDamage = (error: unknown) => error instanceof StoreError && error.code === "RECORD_DAMAGED";
  assert.throws(() => open.pageOver(31, 0), isDamage);
  assert.throws(() => open.nodeInto(2, 3, new Uint8Array(32), 0), isDamage);
});
