/**
 * The nodes of the Merkle-Patricia trie: those on disk, and over them the new ones of the block that is executed.
 *
 *   key                               value
 *   <keccak of the node, 64 hex>      a trie node, RLP
 *   code:<keccak of the code, hex>    a contract's code
 *   root:<block hash, hex>            the state's trie root after that block (storage/block/trieRoot.ts)
 *
 * A key's value never changes. So nodes may reach the disk before their block, and stay there when it is rolled back.
 */
import {type ByteKey, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {decodeList} from "./nodeRlp.ts";
import {BRANCHES, HASH_BYTES, type TrieNode} from "./trieShape.ts";
import type {NodesByHash} from "./trieUpdate.ts";

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

interface MadeNode {
  readonly bytes: Uint8Array;
  readonly node: TrieNode;
}

/** About 20 MB. The upper nodes of the trie are read and made again by every block. */
const MAX_KEPT_NODES = 10_000;

/** Reads fall through to `nodes`, writes stay here until `persist`. */
export class TrieOverlay implements NodesByHash {
  private readonly nodes: TrieNodes;
  private readonly made = new Map<ByteKey, MadeNode>();
  /** Nodes that were read or made lately, by hash. */
  private kept = new Map<ByteKey, TrieNode>();

  constructor(nodes: TrieNodes) {
    this.nodes = nodes;
  }

  /** The caller must not change the result. @throws ExecutionError STATE_MISSING */
  read(hash: Uint8Array): TrieNode {
    const key = toKey(hash);
    const known = this.kept.get(key) ?? this.made.get(key)?.node;
    if (known !== undefined) return known;
    const name = Buffer.from(key, "latin1").toString("hex");
    const bytes = this.nodes.get(name);
    if (bytes === undefined)
      throw new ExecutionError("STATE_MISSING", `trie node 0x${name} is not in this store`);
    const node = decodeList(bytes);
    this.keep(key, node);
    return node;
  }

  write(hash: Uint8Array, bytes: Uint8Array, node: TrieNode): void {
    this.made.set(toKey(hash), {bytes, node});
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
    const key = toKey(root);
    const made = this.made.get(key);
    if (made === undefined) return;
    this.made.delete(key);
    this.keep(key, made.node);
    this.nodes.put(Buffer.from(key, "latin1").toString("hex"), made.bytes);
    this.persistChildren(made.node);
  }

  private persistChildren(node: TrieNode): void {
    if (node.length <= BRANCHES) {
      const [path, child] = node as [Uint8Array, TrieNode[number]];
      if (((path[0] ?? 0) & 0x20) === 0) this.persistChild(child);
    } else for (const child of node) this.persistChild(child);
  }

  private persistChild(child: TrieNode[number]): void {
    // A child below 32 bytes is part of its parent, and too short to refer to another node.
    if (child instanceof Uint8Array && child.length === HASH_BYTES) this.persist(child);
  }

  private keep(key: ByteKey, node: TrieNode): void {
    if (this.kept.size >= MAX_KEPT_NODES) this.kept = new Map();
    this.kept.set(key, node);
  }
}
