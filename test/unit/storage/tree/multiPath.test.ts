import assert from "node:assert/strict";
import {test} from "node:test";
import {foldPart} from "../../../../client/compact/foldPart.ts";
import type {PartLeaf} from "../../../../client/compact/treePart.ts";
import {sha256Suite as clientSuite, encodeLeafOpening} from "../../../../client/hash/hashSuites.ts";
import {sha256Suite} from "../../../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../../../storage/tree/emptyTree.ts";
import {KeyHints} from "../../../../storage/tree/keyHints.ts";
import {MultiPath, meetingHeight} from "../../../../storage/tree/multiPath.ts";
import {accountTree} from "../../../../storage/tree/tree.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import {anySuiteKeyOf} from "../../../support/stores/hKeys.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

test("any leaves of a tree of any size fold to its sub-root, with no sibling too many", () => {
  const path = new MultiPath(sha256Suite, emptyTree(sha256Suite));
  const pages = new MemoryPages();
  const operations = TreeOperations.create(pages);
  for (let count = 1; count <= 70; count++) {
    operations.put(anySuiteKeyOf(count), count);
    const root = operations.writer.seal();
    const {nextFreeNode} = root;
    const tree = accountTree({pages, hints: new KeyHints(0)}, root);
    const all = Array.from({length: nextFreeNode}, (_, leafIndex) => leafIndex);
    const lists = [all, ...all.map(first => [first]), ...all.slice(1).map(second => [second >> 1, second])];
    for (const list of lists) {
      path.begin(pages, tree, tableOf(list));
      const hashes: Uint8Array[] = [];
      const leaves = list.map((leafIndex, leaf): PartLeaf => {
        path.read(leaf);
        const [hKey, hVal] = [path.hashes.subarray(0, 32), path.hashes.subarray(32)];
        const {prev, next} = path;
        hashes.push(clientSuite.hash(encodeLeafOpening(clientSuite, {prev, next, hKey, hVal})));
        const siblings = path.siblingsIn
          .slice(0, path.siblingCount)
          .map((bytes, i) => bytes.slice(path.siblingsAt[i], (path.siblingsAt[i] as number) + 32));
        const bitmap = Buffer.from(path.bitmap).readUIntBE(0, 5);
        return {leafIndex, prev, next, content: {role: "end"}, bitmap, siblings};
      });
      assert.deepEqual(
        Buffer.from(foldPart(clientSuite, "part", {nextFreeNode, keys: [], leaves}, hashes)),
        Buffer.from(root.subRoot),
        `leaves ${list} of ${nextFreeNode}`,
      );
    }
  }
});

/** @param list - leaf indexes, ascending */
function tableOf(list: readonly number[]) {
  const none = {lefts: new Uint16Array(), rights: new Uint16Array(), ownKeys: new Int32Array()};
  return {...none, leafIndexes: Float64Array.from(list), pages: []};
}

test("two leaves meet at the height of the highest bit in which their indexes differ", () => {
  const table: [number, number, number][] = [
    [0, 1, 0],
    [2, 3, 0],
    [3, 6, 2],
    [0, 2 ** 31, 31],
    [2 ** 31, 2 ** 31 + 1, 0],
    [2 ** 31 - 1, 2 ** 31, 31],
    [2 ** 32 - 1, 2 ** 32, 32],
    [2 ** 32 + 5, 2 ** 33 + 5, 33],
    [2 ** 39 + 6, 2 ** 39 + 7, 0],
    [1, 2 ** 40 - 1, 39],
  ];
  for (const [i, j, height] of table) {
    assert.equal(meetingHeight(i, j), height, `${i} and ${j}`);
    const bits = (BigInt(i) ^ BigInt(j)).toString(2).length;
    assert.equal(height, bits - 1);
  }
});
