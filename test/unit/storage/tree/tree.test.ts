/** The handle on one tree: what it finds, reads and opens, with hints that hold and hints that do not. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {encodeBucket, readEntries} from "../../../../storage/page/indexPage.ts";
import type {PageReader} from "../../../../storage/page/pageReader.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {KeyHints} from "../../../../storage/tree/keyHints.ts";
import {LeafPath} from "../../../../storage/tree/leafPath.ts";
import {LeafView} from "../../../../storage/tree/leafView.ts";
import {accountTree} from "../../../../storage/tree/tree.ts";
import {newTreeRoot, type TreeRoot} from "../../../../storage/tree/treeRoot.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {hKeyFrom, hKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

const empty = emptyTree(sha256Suite);
const KEYS = 50;

/** Counts the pages that are read. */
class CountedPages implements PageReader {
  private readonly pages: PageReader;
  reads = 0;

  constructor(pages: PageReader) {
    this.pages = pages;
  }

  read(page: number): Buffer {
    this.reads++;
    return this.pages.read(page);
  }
}

function fill(pages: MemoryPages): {tree: TreeOperations; root: TreeRoot} {
  const tree = TreeOperations.create(pages);
  for (let name = 0; name < KEYS; name++) tree.put(hKeyOf(name), name + 1);
  return {tree, root: tree.writer.seal()};
}

function numberIn(leaf: {readonly value: Uint8Array} | undefined): number | undefined {
  return leaf === undefined ? undefined : Number.parseInt(Buffer.from(leaf.value).toString("hex"), 16);
}

test("a key that was read once is read without the index", () => {
  const written = new MemoryPages();
  const {root} = fill(written);
  const pages = new CountedPages(written);
  const tree = accountTree({pages, hints: new KeyHints(1 << 12)}, root);
  assert.equal(numberIn(tree.read(hKeyOf(7))), 8);
  const first = pages.reads;
  pages.reads = 0;
  assert.equal(numberIn(tree.read(hKeyOf(7))), 8);
  assert.ok(pages.reads < first, `${pages.reads} pages, ${first} at first`);
  // The bucket's other keys are noted with it: the path of each is its pages alone.
  const path = new LeafPath(sha256Suite, empty);
  for (let name = 0; name < KEYS; name++) tree.open(path, hKeyOf(name));
  pages.reads = 0;
  for (let name = 0; name < KEYS; name++)
    assert.deepEqual(tree.open(path, hKeyOf(name)), {present: true, leafIndex: name + 2});
  assert.equal(pages.reads, 2 * KEYS);
});

test("the neighbours of an absent key take one read of a leaf, or two if the key begins as a present one does", () => {
  const written = new MemoryPages();
  const {tree: operations} = fill(written);
  const [alike, other] = [hKeyOf(7), hKeyOf("other")];
  alike[31] = (alike[31] as number) ^ 1;
  const root = operations.writer.seal();
  const pages = new CountedPages(written);
  for (const memory of [new LeafPath(sha256Suite, empty), new LeafView()]) {
    const tree = accountTree({pages, hints: new KeyHints(0)}, root);
    for (const hKey of [alike, other]) {
      const proof = operations.reference.prove("", hKey);
      pages.reads = 0;
      const position = tree.open(memory, hKey);
      assert.ok(!position.present && !("leafIndex" in proof));
      assert.deepEqual(
        [position.leftLeafIndex, position.rightLeafIndex],
        [proof.leftLeafIndex, proof.rightLeafIndex],
      );
      // A directory, a bucket, an inner page and a leaf page. For the key that begins alike, a path is tried before.
      assert.equal(pages.reads, hKey === alike ? 6 : 4);
    }
  }
});

test("a leaf that the index has under another key is refused", () => {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  const keys = [..."123456789abcdef"].map(digit => hKeyFrom(digit));
  keys.forEach((hKey, i) => {
    tree.put(hKey, i + 1);
  });
  const root = tree.writer.seal();
  const entries = readEntries(pages.read(root.indexPage));
  const wrong = entries.map(({hKey, leafIndex}) => ({
    hKey: Buffer.from([hKey[0] as number, 1, 0, 0, 0, 0]),
    leafIndex,
  }));
  pages.replace(root.indexPage, encodeBucket(wrong, 6, 0));
  const damaged = accountTree({pages, hints: new KeyHints(0)}, root);
  for (const leaf of [new LeafPath(sha256Suite, empty), new LeafView()])
    assert.throws(() => damaged.open(leaf, keys[0] as Buffer), {
      code: "RECORD_DAMAGED",
      message: /lacks the key of leaf 2$/,
    });
});

test("a new tree has no key and no page; a tree whose leaves are gone is empty, but not new", () => {
  const pages = new MemoryPages();
  const source = {pages, hints: new KeyHints(0)};
  const fresh = accountTree(source, newTreeRoot(empty));
  assert.deepEqual([fresh.isNew, fresh.isEmpty, fresh.read(hKeyOf(1))], [true, true, undefined]);
  assert.deepEqual(fresh.open(new LeafView(), hKeyOf(1)), {
    present: false,
    leftLeafIndex: 0,
    rightLeafIndex: 1,
  });
  const {tree, root} = fill(pages);
  assert.deepEqual([accountTree(source, root).isNew, accountTree(source, root).isEmpty], [false, false]);
  for (let name = 0; name < KEYS; name++) tree.delete(hKeyOf(name));
  const gone = accountTree(source, tree.writer.seal());
  assert.deepEqual(
    [gone.isNew, gone.isEmpty, gone.open(new LeafView(), hKeyOf(1)).present],
    [false, true, false],
  );
});
