/** Which leaves a path is opened for. That it is the reference's at every leaf, property/everyBlock shows. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {KeyHints} from "../../../../storage/tree/keyHints.ts";
import {LeafPath} from "../../../../storage/tree/leafPath.ts";
import {LeafView} from "../../../../storage/tree/leafView.ts";
import {Tree} from "../../../../storage/tree/tree.ts";
import type {TreeRoot} from "../../../../storage/tree/treeRoot.ts";
import type {ReferenceTree} from "../../../support/reference/referenceTree.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

interface Sealed {
  readonly pages: MemoryPages;
  readonly root: TreeRoot;
  readonly reference: ReferenceTree;
}

/** Keys 0 .. count - 1, of which every seventh is deleted again. */
function makeTree(count: number): Sealed {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages);
  for (let name = 0; name < count; name++) tree.put(anySuiteKeyOf(name), name + 1);
  for (let name = 3; name < count; name += 7) tree.delete(anySuiteKeyOf(name));
  return {pages, root: tree.writer.seal(), reference: tree.reference};
}

test("a path is opened for a key only where that key's leaf stands", () => {
  const {pages, root, reference} = makeTree(100);
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite));
  fc.assert(
    fc.property(fc.nat(110), fc.nat(110), (name, leafIndex) => {
      const proof = reference.prove("", anySuiteKeyOf(name));
      const isThere = "leafIndex" in proof && proof.leafIndex === leafIndex;
      assert.equal(path.tryOpen(pages, root, leafIndex, anySuiteKeyOf(name)), isThere);
    }),
  );
});

test("a leaf that is deleted or not there yet is refused by code", () => {
  const {pages, root} = makeTree(20);
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite));
  const tree = new Tree({pages, hints: new KeyHints(0)}, root, 0);
  for (const leaf of [path, new LeafView()]) {
    const message = "leaf 22 of a tree of 22";
    assert.throws(() => tree.openAt(leaf, 22), {code: "RECORD_DAMAGED", message});
    assert.throws(() => tree.openAt(leaf, 5), {code: "RECORD_MISSING"});
  }
});

test("a page of the wrong kind on the way is RECORD_DAMAGED", () => {
  const {pages, root} = makeTree(20);
  pages.replace(root.rootPage, pages.read(root.indexPage));
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite));
  assert.throws(() => path.tryOpen(pages, root, 2, undefined), {code: "RECORD_DAMAGED"});
});
