/** The root that is made of a tree's rows alone, against the reference, which keeps links and nodes. */
import assert from "node:assert/strict";
import {test} from "node:test";
import fc from "fast-check";
import {TreeFolding} from "../../../../client/folder/treeFolding.ts";
import {poseidon2Suite, sha256Suite} from "../../../../client/hash/hashSuites.ts";
import {ReferenceTree} from "../../../support/reference/referenceTree.ts";

/** Keys that are written, and those that are deleted: some of them again and again. */
const STEPS = fc.array(fc.record({key: fc.nat(30), isDeleted: fc.boolean()}), {maxLength: 60});

for (const suite of [sha256Suite, poseidon2Suite])
  test(`the leaves that are left of a ${suite.name} tree make its root, whatever was deleted between them`, () => {
    fc.assert(
      fc.property(STEPS, steps => {
        const tree = ReferenceTree.create(suite);
        for (const {key, isDeleted} of steps) {
          const hKey = suite.hash(new Uint8Array(32).fill(key));
          if (isDeleted) tree.delete(hKey);
          else tree.put(hKey, suite.hash(new Uint8Array(32).fill(key + 1)), new Uint8Array(32));
        }
        const folding = new TreeFolding(suite);
        for (const [leafIndex, leaf] of tree.positions.entries())
          if (leaf !== null && leafIndex > 1) folding.add(leafIndex, leaf);
        assert.deepEqual(folding.fold(tree.nextFreeNode), tree.topRoot());
      }),
      {numRuns: suite.name === "sha256" ? 50 : 5},
    );
  });

test("two leaves with the same key are refused", () => {
  const hVal = sha256Suite.hash(new Uint8Array(32));
  const folding = new TreeFolding(sha256Suite);
  const hKey = sha256Suite.hash(new Uint8Array(1));
  folding.add(5, {hKey, hVal});
  folding.add(9, {hKey, hVal});
  assert.throws(() => folding.fold(10), /^Error: the leaves 5 and 9 have the same key$/);
});
