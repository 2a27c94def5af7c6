/** Leaves of a whole tree, compared with the reference. */
import assert from "node:assert/strict";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {type HashSuite, readWord} from "../../../client/hash/hashSuites.ts";
import type {TreeLeaf} from "../../../client/leaves/treeLeaf.ts";
import {decodeAccount} from "../../../client/proof/account.ts";
import type {KeyOf} from "./rangeBytes.ts";
import type {ReferenceTree} from "./referenceTree.ts";

/**
 * Every position of the tree is there once, with the reference's leaf and its key.
 *
 * @param tree - undefined: there is none, and so no leaves
 */
export function assertWholeTree(
  suite: HashSuite,
  leaves: readonly TreeLeaf[],
  tree: ReferenceTree | undefined,
  keyOf: KeyOf,
): void {
  if (leaves.length === 0) {
    assert.ok(tree === undefined || tree.nextFreeNode === 2);
    return;
  }
  assert.deepEqual(
    leaves.map(({leafIndex}) => leafIndex),
    tree?.positions.map((_, i) => i),
  );
  for (const leaf of leaves) {
    const reference = tree?.positions[leaf.leafIndex] ?? null;
    if (leaf.role === "removed" || reference === null) {
      assert.equal(leaf.role, reference === null ? "removed" : "a leaf");
      continue;
    }
    const {prev, next, hKey, hVal, value} = reference;
    assert.deepEqual([leaf.prev, leaf.next], [prev, next]);
    assert.deepEqual([leaf.hKey, leaf.hVal].map(encodeHex), [hKey, hVal].map(encodeHex));
    if (leaf.role === "account") {
      assert.deepEqual(leaf.account, decodeAccount(suite, value));
      assert.equal(leaf.address, encodeHex(keyOf(hKey, true)));
    }
    if (leaf.role === "slot") {
      assert.equal(leaf.value, readWord(value));
      assert.equal(leaf.slot, BigInt(`0x0${Buffer.from(keyOf(hKey, false)).toString("hex")}`));
    }
  }
}
