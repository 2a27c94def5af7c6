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
import {KECCAK256_RLP} from "@ethereumjs/util";
import {type ByteKey, sameBytes, toKey} from "./byteKey.ts";
import {ExecutionError} from "./errors.ts";
import {decodeList} from "./nodeRlp.ts";
import {BRANCHES, decodePath, type TrieNode} from "./trieShape.ts";
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

/** About 30 MB in two generations. The upper nodes of the trie are read and made again by every block. */
const KEPT_NODES = 20_000;

/** Reads fall through to `nodes`, writes stay here until `persist`. */
export class TrieOverlay implements NodesByHash {
  private readonly made = new Map<ByteKey, Uint8Array>();
  /** Nodes that were read or made lately. */
  private recent = new Map<ByteKey, Uint8Array>();
  /** Those before them. One that is read again becomes recent. */
  private older = new Map<ByteKey, Uint8Array>();

  constructor(private readonly nodes: TrieNodes) {}

  /** @throws ExecutionError STATE_MISSING */
  read(hash: Uint8Array): Uint8Array {
    const key = toKey(hash);
    const known = this.recent.get(key) ?? this.made.get(key);
    if (known !== undefined) return known;
    const bytes = this.older.get(key) ?? this.load(key);
    this.keep(key, bytes);
    return bytes;
  }

  /**
   * @param path - one nibble in a byte
   * @returns the value; undefined if the trie does not have the key
   * @throws ExecutionError STATE_MISSING
   */
  find(root: Uint8Array, path: Uint8Array): Uint8Array | undefined {
    if (sameBytes(root, KECCAK256_RLP)) return undefined;
    let child: Uint8Array | TrieNode = root;
    for (let depth = 0; child.length > 0; ) {
      const node: TrieNode = child instanceof Uint8Array ? decodeList(this.read(child)) : child;
      if (node.length > BRANCHES) {
        child = node[path[depth++] as number] as Uint8Array | TrieNode;
        continue;
      }
      const own = decodePath(node[0] as Uint8Array);
      if (!sameBytes(own.path, path.subarray(depth, depth + own.path.length))) return undefined;
      if (own.isLeaf) return node[1] as Uint8Array;
      depth += own.path.length;
      child = node[1] as Uint8Array | TrieNode;
    }
    return undefined;
  }

  write(hash: Uint8Array, bytes: Uint8Array): void {
    this.made.set(toKey(hash), bytes);
  }

  clear(): void {
    this.made.clear();
  }

  /** Puts every node written since the last `clear`. */
  persist(): void {
    for (const [key, bytes] of this.made) {
      this.nodes.put(nameOf(key), bytes);
      this.keep(key, bytes);
    }
    this.made.clear();
  }

  private load(key: ByteKey): Uint8Array {
    const name = nameOf(key);
    const bytes = this.nodes.get(name);
    if (bytes === undefined)
      throw new ExecutionError("STATE_MISSING", `trie node 0x${name} is not in this store`);
    return bytes;
  }

  private keep(key: ByteKey, bytes: Uint8Array): void {
    this.recent.set(key, bytes);
    if (this.recent.size < KEPT_NODES) return;
    this.older = this.recent;
    this.recent = new Map();
  }
}

function nameOf(key: ByteKey): string {
  return Buffer.from(key, "latin1").toString("hex");
}
