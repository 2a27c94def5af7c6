/**
 * One sparse Merkle tree, slow and obvious: an array of leaves, the operations as docs/proofs.md, section 4, words them, and
 * the root by plain recursion.
 *
 *   leaves   [0] head  [1] tail  [2] ...  [f - 1]      null = deleted; nextFreeNode f = leaves.length
 */

import {encodeHex} from "../../../client/bytes/hex.ts";
import {
  encodeLeafOpening,
  encodeRootNode,
  type HashSuite,
  ZERO_WORD,
  zeroSubTrees,
} from "../../../client/hash/hashSuites.ts";

const DEPTH = 40;

interface Leaf {
  readonly prev: number;
  readonly next: number;
  readonly hKey: Uint8Array;
  readonly hVal: Uint8Array;
  /** The value that a proof shows: 192 bytes for an account, 32 for a slot or for head and tail. */
  readonly value: Uint8Array;
}

/** The JSON of one leaf's proof, fields in the order of docs/proofs.md, section 5. */
export interface LeafProof {
  readonly value: string;
  readonly proofRelatedNodes: readonly string[];
}

export interface ExistenceProof {
  readonly key: string;
  readonly leafIndex: number;
  readonly proof: LeafProof;
}

export interface AbsenceProof {
  readonly key: string;
  readonly leftLeafIndex: number;
  readonly leftProof: LeafProof;
  readonly rightLeafIndex: number;
  readonly rightProof: LeafProof;
}

const zeroOfSuite = new Map<HashSuite, readonly Uint8Array[]>();

/** Hashes of empty sub-trees by height. No other hashes are kept. */
function zeroSubTree(suite: HashSuite, height: number): Uint8Array {
  let zero = zeroOfSuite.get(suite);
  if (zero === undefined) {
    zero = zeroSubTrees(suite);
    zeroOfSuite.set(suite, zero);
  }
  return zero[height] as Uint8Array;
}

export class ReferenceTree {
  private readonly suite: HashSuite;
  private readonly leaves: (Leaf | null)[];
  /** Index of every leaf, by its hKey as text. Lower-case hex text sorts like the bytes. */
  private readonly indexOfKey: Map<string, number>;
  /** Every node, computed for the first proof: `levels[height][i]`, only for the positions in use. */
  private levels: Uint8Array[][] | undefined;

  private constructor(suite: HashSuite, leaves: (Leaf | null)[], indexOfKey: Map<string, number>) {
    this.suite = suite;
    this.leaves = leaves;
    this.indexOfKey = indexOfKey;
  }

  /** A new tree: head, tail, and nextFreeNode 2. */
  static create(suite: HashSuite): ReferenceTree {
    const end = {prev: 0, next: 1, hVal: ZERO_WORD, value: ZERO_WORD};
    const leaves = [
      {...end, hKey: ZERO_WORD},
      {...end, hKey: suite.tailKey},
    ];
    return new ReferenceTree(suite, leaves, new Map(leaves.map((leaf, i) => [encodeHex(leaf.hKey), i])));
  }

  /** An independent copy. Leaves are never changed in place, so both trees share them. */
  copy(): ReferenceTree {
    return new ReferenceTree(this.suite, [...this.leaves], new Map(this.indexOfKey));
  }

  get nextFreeNode(): number {
    return this.leaves.length;
  }

  /** hKeys as text, in the order of the links from head to tail, without these two. */
  listKeys(): string[] {
    const keys: string[] = [];
    for (let i = this.leaf(0).next; i !== 1; i = this.leaf(i).next) keys.push(encodeHex(this.leaf(i).hKey));
    return keys;
  }

  /** @returns the value under the key, or undefined */
  read(hKey: Uint8Array): Uint8Array | undefined {
    const index = this.indexOfKey.get(encodeHex(hKey));
    return index === undefined ? undefined : this.leaf(index).value;
  }

  /** Inserts, or updates if the key is there. */
  put(hKey: Uint8Array, hVal: Uint8Array, value: Uint8Array): void {
    this.levels = undefined;
    const key = encodeHex(hKey);
    const index = this.indexOfKey.get(key);
    if (index !== undefined) {
      this.leaves[index] = {...this.leaf(index), hVal, value};
      return;
    }
    const [left, right] = this.neighbours(hKey);
    const free = this.nextFreeNode;
    this.leaves[left] = {...this.leaf(left), next: free};
    this.leaves[free] = {prev: left, next: right, hKey, hVal, value};
    this.leaves[right] = {...this.leaf(right), prev: free};
    this.indexOfKey.set(key, free);
  }

  /** Does nothing if the key is absent. */
  delete(hKey: Uint8Array): void {
    const key = encodeHex(hKey);
    const index = this.indexOfKey.get(key);
    if (index === undefined) return;
    this.levels = undefined;
    const {prev, next} = this.leaf(index);
    this.leaves[prev] = {...this.leaf(prev), next};
    this.leaves[index] = null;
    this.leaves[next] = {...this.leaf(next), prev};
    this.indexOfKey.delete(key);
  }

  subRoot(): Uint8Array {
    return this.node(DEPTH, 0);
  }

  topRoot(): Uint8Array {
    return this.suite.hash(encodeRootNode(this.suite, this.nextFreeNode, this.subRoot()));
  }

  /** @param key - copied into the proof unchanged */
  prove(key: string, hKey: Uint8Array): ExistenceProof | AbsenceProof {
    const index = this.indexOfKey.get(encodeHex(hKey));
    if (index !== undefined) return {key, leafIndex: index, proof: this.proveLeaf(index)};
    const [left, right] = this.neighbours(hKey);
    return {
      key,
      leftLeafIndex: left,
      leftProof: this.proveLeaf(left),
      rightLeafIndex: right,
      rightProof: this.proveLeaf(right),
    };
  }

  private leaf(index: number): Leaf {
    const leaf = this.leaves[index];
    if (leaf === null || leaf === undefined) throw new Error(`no leaf at ${index}`);
    return leaf;
  }

  /** The greatest key below and the least key above. Looks at all keys and does not use the links. */
  private neighbours(hKey: Uint8Array): [left: number, right: number] {
    const key = encodeHex(hKey);
    let [below, left] = ["", -1];
    let [above, right] = ["~", -1];
    for (const [other, index] of this.indexOfKey) {
      if (other < key && other > below) [below, left] = [other, index];
      if (other > key && other < above) [above, right] = [other, index];
    }
    return [left, right];
  }

  /** The node at `height` whose leftmost leaf is `index` * 2^height. */
  private node(height: number, index: number): Uint8Array {
    if (index * 2 ** height >= this.nextFreeNode) return zeroSubTree(this.suite, height);
    if (height === 0) return this.hashLeaf(index);
    return this.suite.hash(this.node(height - 1, 2 * index), this.node(height - 1, 2 * index + 1));
  }

  private hashLeaf(index: number): Uint8Array {
    const leaf = this.leaves[index];
    return leaf ? this.suite.hash(encodeLeafOpening(this.suite, leaf)) : ZERO_WORD;
  }

  private proveLeaf(index: number): LeafProof {
    const levels = this.buildLevels();
    const node = (height: number, i: number) => levels[height]?.[i] ?? zeroSubTree(this.suite, height);
    const nodes = [encodeRootNode(this.suite, this.nextFreeNode, node(DEPTH, 0))];
    for (let height = DEPTH - 1; height >= 1; height--) {
      const sibling = siblingOf(Math.floor(index / 2 ** height));
      nodes.push(Buffer.concat([node(height - 1, 2 * sibling), node(height - 1, 2 * sibling + 1)]));
    }
    const siblingLeaf = this.leaves[siblingOf(index)];
    nodes.push(siblingLeaf ? encodeLeafOpening(this.suite, siblingLeaf) : ZERO_WORD);
    nodes.push(encodeLeafOpening(this.suite, this.leaf(index)));
    return {value: encodeHex(this.leaf(index).value), proofRelatedNodes: nodes.map(encodeHex)};
  }

  private buildLevels(): readonly (readonly Uint8Array[])[] {
    if (this.levels !== undefined) return this.levels;
    const levels = [this.leaves.map((_, i) => this.hashLeaf(i))];
    for (let height = 0; height < DEPTH; height++) {
      const below = levels[height] as Uint8Array[];
      const row: Uint8Array[] = [];
      for (let i = 0; i < below.length; i += 2)
        row.push(this.suite.hash(below[i] as Uint8Array, below[i + 1] ?? zeroSubTree(this.suite, height)));
      levels.push(row);
    }
    this.levels = levels;
    return levels;
  }
}

function siblingOf(index: number): number {
  return index % 2 === 0 ? index + 1 : index - 1;
}
