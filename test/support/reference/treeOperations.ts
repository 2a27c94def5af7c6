/** A tree's writer and the slow reference, changed side by side. */
import {HASH_SUITES, word} from "../../../client/hash/hashSuites.ts";
import {TreeWriter} from "../../../storage/commit/treeWriter.ts";
import {PairBatch} from "../../../storage/hash/pairBatch.ts";
import {sha256Suite} from "../../../storage/hash/sha256Suite.ts";
import type {HashSuite} from "../../../storage/hash/suite.ts";
import {emptyTree} from "../../../storage/tree/emptyTree.ts";
import {stripZeros} from "../../../storage/tree/shortNumber.ts";
import {newTreeRoot, type TreeRoot} from "../../../storage/tree/treeRoot.ts";
import type {MemoryPages} from "../stores/memoryPages.ts";
import {ReferenceTree} from "./referenceTree.ts";

export class TreeOperations {
  private readonly suite: HashSuite;
  readonly writer: TreeWriter;
  readonly reference: ReferenceTree;

  private constructor(suite: HashSuite, writer: TreeWriter, reference: ReferenceTree) {
    this.suite = suite;
    this.writer = writer;
    this.reference = reference;
  }

  /** @throws Error if client/ does not have the suite */
  static create(pages: MemoryPages, suite = sha256Suite): TreeOperations {
    const referenceSuite = HASH_SUITES.find(({name}) => name === suite.name);
    if (referenceSuite === undefined) throw new Error(`no reference for ${suite.name}`);
    return TreeOperations.open(
      suite,
      pages,
      newTreeRoot(emptyTree(suite)),
      ReferenceTree.create(referenceSuite),
    );
  }

  private static open(
    suite: HashSuite,
    pages: MemoryPages,
    root: TreeRoot,
    reference: ReferenceTree,
  ): TreeOperations {
    const context = {suite, empty: emptyTree(suite), pages, pairs: new PairBatch(suite)};
    return new TreeOperations(suite, new TreeWriter(context, root), reference);
  }

  /** Continues from the sealed tree, as the next block does. */
  reopen(pages: MemoryPages, root: TreeRoot): TreeOperations {
    return TreeOperations.open(this.suite, pages, root, this.reference);
  }

  put(hKey: Uint8Array, value: bigint | number): void {
    const full = word(value);
    this.write(hKey, this.suite.hashSlotValue(full), full, stripZeros(full));
  }

  /** Inserts or updates. @param stored - the value as the tree's leaf pages hold it */
  write(hKey: Uint8Array, hVal: Uint8Array, value: Uint8Array, stored: Uint8Array): void {
    const position = this.writer.find(hKey);
    if (position.present) this.writer.update(position.leafIndex, hVal, stored);
    else this.writer.insert(position, hKey, hVal, stored);
    this.reference.put(hKey, hVal, value);
  }

  /** Does nothing if the key is absent. */
  delete(hKey: Uint8Array): void {
    const position = this.writer.find(hKey);
    if (position.present) this.writer.delete(position.leafIndex);
    this.reference.delete(hKey);
  }
}
