/** A tree's writer and the slow reference, changed side by side. Values are the hashes of slots. */
import {TreeWriter} from "../../../storage/commit/treeWriter.ts";
import {PairBatch} from "../../../storage/hash/pairBatch.ts";
import {sha256Suite} from "../../../storage/hash/sha256Suite.ts";
import {emptyTree} from "../../../storage/tree/emptyTree.ts";
import {stripZeros} from "../../../storage/tree/shortNumber.ts";
import {newTreeRoot, type TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {sha256Suite as referenceSuite, word} from "../../../verify/hashSuites.ts";
import type {MemoryPages} from "../stores/memoryPages.ts";
import {ReferenceTree} from "./referenceTree.ts";

export class TreeOperations {
  readonly writer: TreeWriter;
  readonly reference: ReferenceTree;

  private constructor(writer: TreeWriter, reference: ReferenceTree) {
    this.writer = writer;
    this.reference = reference;
  }

  static create(pages: MemoryPages): TreeOperations {
    const empty = emptyTree(sha256Suite);
    return TreeOperations.open(pages, newTreeRoot(empty), ReferenceTree.create(referenceSuite));
  }

  private static open(pages: MemoryPages, root: TreeRoot, reference: ReferenceTree): TreeOperations {
    const empty = emptyTree(sha256Suite);
    const context = {suite: sha256Suite, empty, pages, pairs: new PairBatch(sha256Suite)};
    return new TreeOperations(new TreeWriter(context, root), reference);
  }

  /** Continues from the sealed tree, as the next block does. */
  reopen(pages: MemoryPages, root: TreeRoot): TreeOperations {
    return TreeOperations.open(pages, root, this.reference);
  }

  /** Inserts or updates. */
  put(hKey: Uint8Array, value: number): void {
    const [full, position] = [word(value), this.writer.find(hKey)];
    const hVal = sha256Suite.hashSlotValue(full);
    if (position.present) this.writer.update(position.leafIndex, hVal, stripZeros(full));
    else this.writer.insert(position, hKey, hVal, stripZeros(full));
    this.reference.put(hKey, hVal, full);
  }

  /** Does nothing if the key is absent. */
  delete(hKey: Uint8Array): void {
    const position = this.writer.find(hKey);
    if (position.present) this.writer.delete(position.leafIndex);
    this.reference.delete(hKey);
  }
}
