/**
 * The nodes of the Merkle-Patricia trie: those on disk, and over them the new ones of the block that is executed.
 *
 *   key                               value
 *   <keccak of the node, 64 hex>      a trie node, RLP
 *   code:<keccak of the code, hex>    a contract's code
 *   root:<block hash, hex>            the state's trie root after that block, 32 bytes
 *
 * A key's value never changes. So nodes may reach the disk before their block, and stay there when it is rolled back.
 */
import {MerklePatriciaTrie} from "@ethereumjs/mpt";
import {RLP} from "@ethereumjs/rlp";
import {type BatchDBOp, type DB, KECCAK256_RLP, ValueEncoding} from "@ethereumjs/util";
import {keccak256} from "../../storage/hash/keccak.ts";
import {ExecutionError} from "./errors.ts";

/** The caller's store. `get` must return a put value at once. The value must be on disk no later than the block. */
export interface TrieNodes {
  get(key: string): Uint8Array | undefined;
  put(key: string, value: Uint8Array): void;
  /** Awaited from time to time while a large allocation is put. It may write what was put, or throw to end the work. */
  settle?(): Promise<void>;
}

export function codeKey(codeHash: Uint8Array): string {
  return `code:${Buffer.from(codeHash).toString("hex")}`;
}

export function rootKey(blockHash: Uint8Array): string {
  return `root:${Buffer.from(blockHash).toString("hex")}`;
}

/** A trie of accounts by address, or of one account's slots. */
export function openTrie(overlay: TrieOverlay, root: Uint8Array): MerklePatriciaTrie {
  return new MerklePatriciaTrie({
    db: overlay,
    valueEncoding: ValueEncoding.Bytes,
    useKeyHashing: true,
    useKeyHashingFunction: keccak256,
    root,
  });
}

const BRANCH_ITEMS = 17;
/** The root of an empty trie. It has no node, but the library looks it up. */
const EMPTY_ROOT_KEY = Buffer.from(KECCAK256_RLP).toString("hex");

/** The trie library's database: reads fall through to `nodes`, writes stay here until `persist`. */
export class TrieOverlay implements DB<string, Uint8Array> {
  private readonly nodes: TrieNodes;
  private readonly made = new Map<string, Uint8Array>();

  constructor(nodes: TrieNodes) {
    this.nodes = nodes;
  }

  /** @throws ExecutionError STATE_MISSING, since the library would take a missing node for a missing key */
  async get(key: string): Promise<Uint8Array | undefined> {
    return key === EMPTY_ROOT_KEY ? undefined : this.find(key);
  }

  /** @throws ExecutionError STATE_MISSING */
  read(hash: Uint8Array): Uint8Array {
    return this.find(Buffer.from(hash).toString("hex"));
  }

  write(hash: Uint8Array, node: Uint8Array): void {
    this.made.set(Buffer.from(hash).toString("hex"), node);
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    this.made.set(key, value);
  }

  async batch(operations: BatchDBOp<string, Uint8Array>[]): Promise<void> {
    for (const operation of operations)
      if (operation.type === "put") this.made.set(operation.key, operation.value);
  }

  /** Nodes are shared between blocks; none is ever deleted. */
  async del(): Promise<void> {}

  async open(): Promise<void> {}

  shallowCopy(): TrieOverlay {
    return this;
  }

  /** Drops every node that was not persisted. */
  clear(): void {
    this.made.clear();
  }

  /**
   * Writes the nodes under `root` that are not on disk yet. Nodes that later writes of the same block replaced are skipped,
   * about half of them.
   */
  persist(root: Uint8Array): void {
    const key = Buffer.from(root).toString("hex");
    const node = this.made.get(key);
    if (node === undefined) return;
    this.made.delete(key);
    this.nodes.put(key, node);
    const items = RLP.decode(node);
    if (!Array.isArray(items)) return;
    // A child below 32 bytes is part of its parent, and too short to refer to another node.
    if (items.length === BRANCH_ITEMS) {
      for (const child of items.slice(0, -1))
        if (child instanceof Uint8Array && child.length === 32) this.persist(child);
      return;
    }
    const [path, child] = items;
    const isLeaf = path instanceof Uint8Array && ((path[0] ?? 0) & 0x20) !== 0;
    if (!isLeaf && child instanceof Uint8Array && child.length === 32) this.persist(child);
  }

  private find(key: string): Uint8Array {
    const node = this.made.get(key) ?? this.nodes.get(key);
    if (node === undefined)
      throw new ExecutionError("STATE_MISSING", `trie node 0x${key} is not in this store`);
    return node;
  }
}
