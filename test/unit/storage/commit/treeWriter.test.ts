/** Edges of a tree being changed. That its roots are the reference's, property/stateRoots shows. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {TreeWriter} from "../../../../storage/commit/treeWriter.ts";
import {PairBatch} from "../../../../storage/hash/pairBatch.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {BUCKET} from "../../../../storage/page/indexPage.ts";
import {SMALL_TREE_PAGE} from "../../../../storage/page/leafPage.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {newTreeRoot} from "../../../../storage/tree/treeRoot.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

test("a tree in which only absent keys were looked for stays new, and nothing of it is written", () => {
  const pages = new MemoryPages();
  const empty = emptyTree(sha256Suite);
  const context = {suite: sha256Suite, empty, pages, pairs: new PairBatch(sha256Suite)};
  const tree = new TreeWriter(context, newTreeRoot(empty));
  assert.equal(tree.find(hKeyOf(1)).present, false);
  assert.deepEqual(tree.seal(), newTreeRoot(empty));
});

test("up to 6 leaves are one page without an index, the seventh makes an index of all", () => {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  for (let name = 0; name < 6; name++) tree.put(hKeyOf(name), 1);
  const small = tree.writer.seal();
  assert.deepEqual([small.nextFreeNode, small.indexPage, pages.count], [8, 0, 1]);
  assert.equal(pages.read(small.rootPage)[0], SMALL_TREE_PAGE);
  tree.put(hKeyOf(6), 1);
  const {indexPage} = tree.writer.seal();
  assert.deepEqual([pages.read(indexPage)[0], pages.read(indexPage)[1]], [BUCKET, 7]);
});

test("a seal without changes writes no page and gives the same root", () => {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  tree.put(hKeyOf(1), 1);
  const root = tree.writer.seal();
  const written = pages.count;
  assert.equal(tree.writer.seal(), root);
  assert.equal(tree.reopen(pages, root).writer.seal(), root);
  assert.equal(pages.count, written);
});

test("a full tree refuses a leaf by name and is left as it was", () => {
  const empty = emptyTree(sha256Suite);
  const context = {suite: sha256Suite, empty, pages: new MemoryPages(), pairs: new PairBatch(sha256Suite)};
  const full = {...newTreeRoot(empty), nextFreeNode: 2 ** 38};
  const writer = new TreeWriter(context, full);
  const between = {leftLeafIndex: 0, rightLeafIndex: 1};
  assert.throws(() => writer.insert(between, hKeyOf(1), hKeyOf(2), Buffer.of(1)), {code: "TREE_FULL"});
  assert.equal(writer.seal(), full);
});

test("a new tree whose leaves come in order is due for a seal early, and has the same root after it", () => {
  const empty = emptyTree(sha256Suite);
  const create = (pages: MemoryPages) =>
    new TreeWriter({suite: sha256Suite, empty, pages, pairs: new PairBatch(sha256Suite)}, newTreeRoot(empty));
  const [sealed, whole] = [new MemoryPages(), new MemoryPages()];
  const [early, late] = [create(sealed), create(whole)];
  let seals = 0;
  for (let i = 1; i <= 17_000; i++) {
    const hKey = Buffer.alloc(32);
    hKey.writeUInt32BE(i * 200_000);
    for (const tree of [early, late]) {
      const at = tree.find(hKey);
      assert.ok(!at.present);
      tree.insert(at, hKey, hKey, Buffer.of(1));
    }
    if (!early.needsSeal) continue;
    early.seal();
    seals++;
  }
  assert.equal(seals, 1);
  assert.deepEqual(early.seal().subRoot, late.seal().subRoot);
  // A seal's pages that are replaced: those on the paths to the last leaf and to the tail, and in the index.
  assert.ok(sealed.count - whole.count < 30, `${sealed.count} pages, ${whole.count} without it`);
});
