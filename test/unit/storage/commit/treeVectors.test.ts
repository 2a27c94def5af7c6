/** The store's trees against the vectors in test/fixtures: every root after every step, and every leaf at the end. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {decodeHex, encodeHex} from "../../../../client/bytes/hex.ts";
import {poseidon2Suite} from "../../../../storage/hash/poseidon2Suite.ts";
import type {HashSuite} from "../../../../storage/hash/suite.ts";
import {SUITE_NAMES} from "../../../../storage/hash/suiteNames.ts";
import {findSuite} from "../../../../storage/hash/suites.ts";
import {readLeaf} from "../../../../storage/tree/treeReader.ts";
import type {TreeRoot} from "../../../../storage/tree/treeRoot.ts";
import {readFixture} from "../../../support/reference/fixtures.ts";
import {readVectors} from "../../../support/reference/ownVectors.ts";
import {TreeOperations} from "../../../support/reference/treeOperations.ts";
import type {TreeVectors} from "../../../support/reference/treeVectors.ts";
import {MemoryPages} from "../../../support/stores/memoryPages.ts";

for (const name of SUITE_NAMES)
  test(`${name}: a tree that changes as the fixture's has its roots, sealed after each step or once, and its leaves`, () => {
    const {steps, leaves} = readVectors<TreeVectors>("trees", name);
    const suite = findSuite(name)?.trees as HashSuite;
    for (const sealsEach of [true, false]) {
      const pages = new MemoryPages();
      const tree = TreeOperations.create(pages, suite);
      let root: TreeRoot | undefined;
      for (const [i, {what, slot, value, ...expected}] of steps.entries()) {
        const hKey = suite.hashSlot(decodeHex(slot));
        assert.equal(encodeHex(hKey), expected.hKey, what);
        assert.equal(encodeHex(suite.hashSlotValue(decodeHex(value))), expected.hVal, what);
        if (BigInt(value) === 0n) tree.delete(hKey);
        else tree.put(hKey, BigInt(value));
        if (!sealsEach && i < steps.length - 1) continue;
        root = tree.writer.seal();
        assert.equal(root.nextFreeNode, expected.nextFreeNode, what);
        assert.equal(encodeHex(root.subRoot), expected.subRoot, what);
        assert.equal(encodeHex(tree.writer.topRoot()), expected.topRoot, what);
      }
      for (const {slot, leafIndex, opening, leafHash} of leaves) {
        const {prev, next, hKey, hVal} = readLeaf(pages, root as TreeRoot, leafIndex);
        const bytes = new Uint8Array(suite.leafOpeningBytes);
        suite.encodeLeafOpeningInto(bytes, 0, prev, next, hKey, hVal);
        assert.equal(encodeHex(bytes), opening, slot);
        assert.equal(encodeHex(suite.hashNode(bytes)), leafHash, slot);
      }
    }
  });

interface KeyAndValue {
  readonly hKey: string;
  readonly hVal: string;
  readonly value: string;
}

type Step =
  | ({readonly op: "putAccount"; readonly address: string} & KeyAndValue)
  | ({readonly op: "putSlot"; readonly slot: string; readonly storageRoot: string} & KeyAndValue)
  | ({readonly op: "putRaw"; readonly key: string} & KeyAndValue)
  | {readonly op: "deleteRaw"; readonly key: string}
  | {
      readonly op: "expect";
      readonly nextFreeNode: number;
      readonly subRoot: string;
      readonly topRoot: string;
    };

test("every root that the live network's own tests expect comes out of the store's trees", () => {
  const {cases} = readFixture<{cases: {name: string; steps: Step[]}[]}>("published/trees-poseidon2");
  const suite = poseidon2Suite;
  let roots = 0;
  for (const {name, steps} of cases) {
    const tree = TreeOperations.create(new MemoryPages(), suite);
    const storage = TreeOperations.create(new MemoryPages(), suite);
    /** Also checks that the store hashes key and value as the network does. */
    const put = (
      into: TreeOperations,
      step: KeyAndValue,
      hKey: Uint8Array,
      hVal: Uint8Array,
      value: Uint8Array,
    ) => {
      assert.deepEqual([encodeHex(hKey), encodeHex(hVal)], [step.hKey, step.hVal], name);
      into.write(hKey, hVal, value, value);
    };
    for (const step of steps)
      if (step.op === "expect") {
        const {nextFreeNode, subRoot} = tree.writer.seal();
        assert.deepEqual(
          [nextFreeNode, encodeHex(subRoot), encodeHex(tree.writer.topRoot())],
          [step.nextFreeNode, step.subRoot, step.topRoot],
          name,
        );
        roots++;
      } else if (step.op === "deleteRaw") tree.delete(suite.hashNode(decodeHex(step.key)));
      else {
        const value = decodeHex(step.value);
        if (step.op === "putRaw")
          put(tree, step, suite.hashNode(decodeHex(step.key)), suite.hashNode(value), value);
        else if (step.op === "putAccount")
          put(tree, step, suite.hashAddress(decodeHex(step.address)), suite.hashAccountValue(value), value);
        else {
          put(storage, step, suite.hashSlot(decodeHex(step.slot)), suite.hashSlotValue(value), value);
          storage.writer.seal();
          assert.equal(encodeHex(storage.writer.topRoot()), step.storageRoot, name);
        }
      }
  }
  assert.ok(roots > cases.length);
});
