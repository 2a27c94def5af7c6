/** A tree being changed, against the slow reference: roots, links, positions, and versions that stay. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {TreeWriter} from "../../../../storage/commit/treeWriter.ts";
import {PairBatch} from "../../../../storage/hash/pairBatch.ts";
import {poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {BUCKET} from "../../../../storage/page/indexPage.ts";
import {LEAF_PAGE} from "../../../../storage/page/leafPage.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {readLeaf} from "../../../../storage/tree/treeReader.ts";
import {newTreeRoot} from "../../../../storage/tree/treeRoot.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Value 0 deletes. */
const change = fc.tuple(fc.nat(60), fc.nat(5));

for (const [suite, numRuns] of [
  [sha256Suite, 40],
  [poseidon2Suite, 10],
] as const)
  test(`${suite.name}: after any changes the sealed root is the reference's, whether sealed once or many times`, () => {
    const blocks = fc.array(fc.array(change, {maxLength: 40}), {minLength: 1, maxLength: 5});
    fc.assert(
      fc.property(blocks, fc.boolean(), (all, reopens) => {
        const pages = new MemoryPages();
        let tree = TreeOperations.create(pages, suite);
        for (const changes of all) {
          for (const [name, value] of changes)
            if (value === 0) tree.delete(anySuiteKeyOf(name));
            else tree.put(anySuiteKeyOf(name), value);
          const root = tree.writer.seal();
          assert.equal(hex(root.subRoot), hex(tree.reference.subRoot()));
          assert.equal(hex(tree.writer.topRoot()), hex(tree.reference.topRoot()));
          assert.equal(root.nextFreeNode, tree.reference.nextFreeNode);
          if (reopens) tree = tree.reopen(pages, root);
        }
      }),
      {numRuns},
    );
  });

test("a tree in which only absent keys were looked for stays new, and nothing of it is written", () => {
  const pages = new MemoryPages();
  const empty = emptyTree(sha256Suite);
  const context = {suite: sha256Suite, empty, pages, pairs: new PairBatch(sha256Suite)};
  const tree = new TreeWriter(context, newTreeRoot(empty));
  assert.equal(tree.find(hKeyOf(1)).present, false);
  assert.deepEqual(tree.seal(), newTreeRoot(empty));
});

test("a tree grows through every kind of root page, and each sealed version can still be read", () => {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  const versions = [];
  for (let count = 1; count <= 150; count++) {
    tree.put(hKeyOf(count), count);
    if (![1, 6, 7, 30, 31, 126, 127, 150].includes(count)) continue;
    const root = tree.writer.seal();
    assert.equal(hex(root.subRoot), hex(tree.reference.subRoot()), `${count} leaves`);
    versions.push({count, root});
  }
  for (const {count, root} of versions)
    for (let name = 1; name <= count; name++) {
      const leaf = readLeaf(pages, root, name + 1);
      assert.equal(hex(leaf.hKey), hex(hKeyOf(name)));
      assert.deepEqual([...leaf.value], [name]);
    }
});

test("up to 6 leaves are one page without an index, the seventh makes an index of all", () => {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  for (let name = 0; name < 6; name++) tree.put(hKeyOf(name), 1);
  const small = tree.writer.seal();
  assert.deepEqual([small.nextFreeNode, small.indexPage, pages.count], [8, 0, 1]);
  assert.equal(pages.read(small.rootPage)[0], LEAF_PAGE);
  tree.put(hKeyOf(6), 1);
  const {indexPage} = tree.writer.seal();
  assert.deepEqual([pages.read(indexPage)[0], pages.read(indexPage)[1]], [BUCKET, 7]);
});

test("find names a key's leaf, or its two neighbours in the linked list, before and after a seal", () => {
  for (const count of [0, 1, 5, 6, 7, 40]) {
    const tree = TreeOperations.create(new MemoryPages());
    const check = (): void => {
      for (let name = 0; name < count + 20; name++) {
        const found = tree.writer.find(hKeyOf(name));
        const proof = tree.reference.prove("", hKeyOf(name));
        assert.deepEqual(
          found,
          "leafIndex" in proof
            ? {present: true, leafIndex: proof.leafIndex}
            : {present: false, leftLeafIndex: proof.leftLeafIndex, rightLeafIndex: proof.rightLeafIndex},
        );
      }
    };
    for (let name = 0; name < count; name++) tree.put(hKeyOf(name), 1);
    if (count > 2) tree.delete(hKeyOf(1));
    check();
    tree.writer.seal();
    check();
  }
});

test("a position that was left is never used again, and a key that comes back has a new one", () => {
  const tree = TreeOperations.create(new MemoryPages());
  tree.put(hKeyOf("a"), 1);
  tree.put(hKeyOf("b"), 1);
  tree.delete(hKeyOf("a"));
  tree.put(hKeyOf("a"), 1);
  assert.deepEqual(tree.writer.find(hKeyOf("a")), {present: true, leafIndex: 4});
  assert.throws(() => tree.writer.leaf(2), RangeError);
  assert.equal(hex(tree.writer.seal().subRoot), hex(tree.reference.subRoot()));
});

test("a tree whose leaves are all gone keeps its positions: its sub-root is a new tree's, its top root is not", () => {
  const tree = TreeOperations.create(new MemoryPages());
  for (let name = 0; name < 20; name++) tree.put(hKeyOf(name), 1);
  for (let name = 0; name < 20; name++) tree.delete(hKeyOf(name));
  const root = tree.writer.seal();
  const empty = emptyTree(sha256Suite);
  assert.deepEqual([root.nextFreeNode, root.indexPage], [22, 0]);
  assert.equal(hex(root.subRoot), hex(empty.subRoot));
  assert.notEqual(hex(tree.writer.topRoot()), hex(empty.topRoot));
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
  const full = {...newTreeRoot(empty), nextFreeNode: 2 ** 40 - 1};
  const writer = new TreeWriter(context, full);
  const between = {leftLeafIndex: 0, rightLeafIndex: 1};
  assert.throws(() => writer.insert(between, hKeyOf(1), hKeyOf(2), Buffer.of(1)), {code: "TREE_FULL"});
  assert.equal(writer.seal(), full);
});
