/** The path of a leaf, node by node against the slow reference's proof. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {type HashSuite, TREE_HEIGHT} from "../../../../storage/hash/suite.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {LeafPath, PRE_IMAGE_BYTES, pathBytes} from "../../../../storage/tree/leafPath.ts";
import type {TreeRoot} from "../../../../storage/tree/treeRoot.ts";
import type {ReferenceTree} from "../../../support/reference/referenceTree.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

const SUITES = [sha256Suite, poseidon2Suite];

interface Sealed {
  readonly pages: MemoryPages;
  readonly root: TreeRoot;
  readonly reference: ReferenceTree;
}

/** Keys 0 .. count - 1, of which every seventh is deleted again. */
function makeTree(count: number, suite: HashSuite = sha256Suite): Sealed {
  const pages = new MemoryPages();
  const tree = TreeOperations.create(pages, suite);
  for (let name = 0; name < count; name++) tree.put(anySuiteKeyOf(name), name + 1);
  for (let name = 3; name < count; name += 7) tree.delete(anySuiteKeyOf(name));
  return {pages, root: tree.writer.seal(), reference: tree.reference};
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

/** The path's nodes as a proof lists them, without the root node. */
function nodesOf(path: LeafPath, suite: HashSuite = sha256Suite): string[] {
  const empty = emptyTree(suite);
  const nodes: string[] = [];
  for (let height = TREE_HEIGHT - 1; height >= path.emptyFrom; height--) {
    const zero = empty.zeros[height - 1] as Uint8Array;
    nodes.push(hex(Buffer.concat([zero, zero])));
  }
  for (let i = 0; i < path.emptyFrom - 1; i++)
    nodes.push(hex(path.preImages.subarray(i * PRE_IMAGE_BYTES, (i + 1) * PRE_IMAGE_BYTES)));
  nodes.push(hex(path.hasSibling ? path.siblingOpening : (empty.zeros[0] as Uint8Array)));
  nodes.push(hex(path.opening));
  return nodes;
}

for (const suite of SUITES)
  test(`${suite.name}: every leaf's path is that of the reference, in trees of one page up to several levels`, () => {
    for (const count of [1, 5, 6, 7, 8, 29, 30, 31, 32, 125, 126, 127, 600]) {
      const {pages, root, reference} = makeTree(count, suite);
      const path = new LeafPath(suite, emptyTree(suite));
      for (let name = 0; name < count; name += count > 200 ? 13 : 1) {
        const proof = reference.prove("", anySuiteKeyOf(name));
        if (!("leafIndex" in proof)) continue;
        path.open(pages, root, proof.leafIndex);
        assert.deepEqual(
          nodesOf(path, suite),
          proof.proof.proofRelatedNodes.slice(1),
          `key ${name} of ${count}`,
        );
        assert.equal(BigInt(hex(path.value)), BigInt(name + 1));
      }
    }
  });

test("a path is opened for a key only where that key's leaf stands", () => {
  const {pages, root, reference} = makeTree(100);
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite));
  fc.assert(
    fc.property(fc.nat(110), fc.nat(110), (name, leafIndex) => {
      const proof = reference.prove("", anySuiteKeyOf(name));
      const isThere = "leafIndex" in proof && proof.leafIndex === leafIndex;
      assert.equal(path.openIfKey(pages, root, leafIndex, anySuiteKeyOf(name)), isThere);
      if (isThere) assert.deepEqual(nodesOf(path), proof.proof.proofRelatedNodes.slice(1));
    }),
  );
});

test("the nodes lie in the memory that the caller gives, as long as pathBytes says", () => {
  const {pages, root} = makeTree(20);
  const memory = new Uint8Array(pathBytes(sha256Suite));
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite), memory);
  path.open(pages, root, 2);
  assert.equal(path.preImages.length + 2 * sha256Suite.leafOpeningBytes, memory.length);
  assert.deepEqual([...memory.subarray(-128)], [...path.opening]);
  assert.ok([path.preImages, path.siblingOpening, path.opening].every(part => part.buffer === memory.buffer));
});

test("a leaf that is deleted or not there yet is refused by code", () => {
  const {pages, root} = makeTree(20);
  const path = new LeafPath(sha256Suite, emptyTree(sha256Suite));
  assert.throws(() => path.open(pages, root, 22), {
    code: "RECORD_DAMAGED",
    message: "leaf 22 of a tree of 22",
  });
  assert.throws(() => path.open(pages, root, 5), {code: "RECORD_MISSING"});
});

test("a page of the wrong kind on the way is RECORD_DAMAGED", () => {
  const {pages, root} = makeTree(20);
  pages.replace(root.rootPage, pages.read(root.indexPage));
  assert.throws(() => new LeafPath(sha256Suite, emptyTree(sha256Suite)).open(pages, root, 2), {
    code: "RECORD_DAMAGED",
  });
});
