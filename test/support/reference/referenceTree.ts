/**
 * One sparse Merkle tree, slow and obvious: an array of leaves, the operations as docs/proofs.md, section 4, words them, and
 * all nodes row by row.
 *
 *   leaves   [0] head  [1] tail  [2] ...  [f - 1]      null = deleted; nextFreeNode f = leaves.length
 *   rows     [0] hashes of the leaves  [1] of their pairs  ...  [40] sub-root
 *
 * Leaves and nodes are never changed in place. So a node whose two children are the very objects of the last time is the node
 * of the last time, and a proof is made once for each state of the tree.
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

export interface ReferenceLeaf {
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

/** The leaves as they were when nodes were last asked for, and their nodes: `rows[height][i]`, only for the positions in use. */
interface Nodes {
  readonly leaves: readonly (ReferenceLeaf | null)[];
  readonly rows: readonly (readonly Uint8Array[])[];
}

/** The empty sub-trees of a suite by height, and the text of two of them. */
interface Zeros {
  readonly nodes: readonly Uint8Array[];
  readonly pairs: readonly string[];
}

const zerosOfSuite = new Map<HashSuite, Zeros>();

function zerosOf(suite: HashSuite): Zeros {
  let zeros = zerosOfSuite.get(suite);
  if (zeros === undefined) {
    const nodes = zeroSubTrees(suite);
    zeros = {nodes, pairs: nodes.map(node => hexOf(node, node))};
    zerosOfSuite.set(suite, zeros);
  }
  return zeros;
}

export class ReferenceTree {
  private readonly suite: HashSuite;
  private readonly leaves: (ReferenceLeaf | null)[];
  /** Index of every leaf, by its hKey as text. Lower-case hex text sorts like the bytes. */
  private readonly indexOfKey: Map<string, number>;
  private readonly zeros: Zeros;
  private nodes: Nodes;
  /** Since `nodes` were made, or since there is a tree. */
  private hasChanged = true;
  /** JSON of the proofs of the tree as it is, by hKey as text. */
  private readonly proofs = new Map<string, string>();

  private constructor(
    suite: HashSuite,
    leaves: (ReferenceLeaf | null)[],
    indexOfKey: Map<string, number>,
    nodes: Nodes = {leaves: [], rows: []},
  ) {
    this.suite = suite;
    this.leaves = leaves;
    this.indexOfKey = indexOfKey;
    this.zeros = zerosOf(suite);
    this.nodes = nodes;
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

  /** An independent copy. Leaves and nodes are never changed in place, so both trees share them. */
  copy(): ReferenceTree {
    return new ReferenceTree(this.suite, [...this.leaves], new Map(this.indexOfKey), this.nodes);
  }

  get nextFreeNode(): number {
    return this.leaves.length;
  }

  /** All positions in use: null = deleted. */
  get positions(): readonly (ReferenceLeaf | null)[] {
    return this.leaves;
  }

  /** The node over the positions from `index * 2^height`, 2^height of them. */
  node(height: number, index: number): Uint8Array {
    return this.readRows()[height]?.[index] ?? (this.zeros.nodes[height] as Uint8Array);
  }

  read(hKey: Uint8Array): Uint8Array | undefined {
    const index = this.indexOfKey.get(encodeHex(hKey));
    return index === undefined ? undefined : this.leaf(index).value;
  }

  /** Inserts, or updates if the key is there. */
  put(hKey: Uint8Array, hVal: Uint8Array, value: Uint8Array): void {
    this.noteChange();
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
    this.noteChange();
    const {prev, next} = this.leaf(index);
    this.leaves[prev] = {...this.leaf(prev), next};
    this.leaves[index] = null;
    this.leaves[next] = {...this.leaf(next), prev};
    this.indexOfKey.delete(key);
  }

  subRoot(): Uint8Array {
    return this.readRows()[DEPTH]?.[0] as Uint8Array;
  }

  topRoot(): Uint8Array {
    return this.suite.hash(encodeRootNode(this.suite, this.nextFreeNode, this.subRoot()));
  }

  /** @returns an object of the caller's own, who may change it. @param key - as in `proveText` */
  prove(key: string, hKey: Uint8Array): ExistenceProof | AbsenceProof {
    return JSON.parse(this.proveText(key, hKey));
  }

  /** @param key - copied into the proof unchanged; always the same for an hKey */
  proveText(key: string, hKey: Uint8Array): string {
    const hex = encodeHex(hKey);
    let text = this.proofs.get(hex);
    if (text === undefined) {
      text = JSON.stringify(this.makeProof(key, hKey, this.indexOfKey.get(hex)));
      this.proofs.set(hex, text);
    }
    return text;
  }

  private makeProof(key: string, hKey: Uint8Array, index: number | undefined): ExistenceProof | AbsenceProof {
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

  private noteChange(): void {
    this.hasChanged = true;
    this.proofs.clear();
  }

  private leaf(index: number): ReferenceLeaf {
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

  private hashLeaf(leaf: ReferenceLeaf | null): Uint8Array {
    return leaf === null ? ZERO_WORD : this.suite.hash(encodeLeafOpening(this.suite, leaf));
  }

  private proveLeaf(index: number): LeafProof {
    const rows = this.readRows();
    const nodes = [hexOf(encodeRootNode(this.suite, this.nextFreeNode, this.subRoot()))];
    for (let height = DEPTH - 1; height >= 1; height--) {
      const row = rows[height - 1] as readonly Uint8Array[];
      const left = row[2 * siblingOf(Math.floor(index / 2 ** height))];
      const right = row[2 * siblingOf(Math.floor(index / 2 ** height)) + 1];
      nodes.push(
        left === undefined
          ? (this.zeros.pairs[height - 1] as string)
          : hexOf(left, right ?? (this.zeros.nodes[height - 1] as Uint8Array)),
      );
    }
    const siblingLeaf = this.leaves[siblingOf(index)];
    nodes.push(hexOf(siblingLeaf ? encodeLeafOpening(this.suite, siblingLeaf) : ZERO_WORD));
    nodes.push(hexOf(encodeLeafOpening(this.suite, this.leaf(index))));
    return {value: encodeHex(this.leaf(index).value), proofRelatedNodes: nodes};
  }

  private readRows(): Nodes["rows"] {
    if (!this.hasChanged) return this.nodes.rows;
    const old = this.nodes;
    let row = this.leaves.map((leaf, i) =>
      leaf === old.leaves[i] ? (old.rows[0]?.[i] as Uint8Array) : this.hashLeaf(leaf),
    );
    const rows = [row];
    for (let height = 0; height < DEPTH; height++) {
      row = this.hashRow(height, row, old.rows);
      rows.push(row);
    }
    this.nodes = {leaves: [...this.leaves], rows};
    this.hasChanged = false;
    return rows;
  }

  /** @returns the row above `row`, which is at `height` */
  private hashRow(height: number, row: readonly Uint8Array[], old: Nodes["rows"]): Uint8Array[] {
    const zero = this.zeros.nodes[height] as Uint8Array;
    const above: Uint8Array[] = [];
    for (let i = 0; i < row.length; i += 2) {
      const [left, right] = [row[i] as Uint8Array, row[i + 1] ?? zero];
      const isOld = left === old[height]?.[i] && right === (old[height]?.[i + 1] ?? zero);
      above.push(isOld ? (old[height + 1]?.[i / 2] as Uint8Array) : this.suite.hash(left, right));
    }
    return above;
  }
}

function siblingOf(index: number): number {
  return index % 2 === 0 ? index + 1 : index - 1;
}

function hexOf(...parts: readonly Uint8Array[]): string {
  return `0x${Buffer.concat(parts).toString("hex")}`;
}
