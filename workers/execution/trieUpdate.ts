/**
 * Writes many keys of a Merkle-Patricia trie at once.
 *
 * Own code: @ethereumjs/mpt writes one key after the other, and hashes every node above a key each time. Here a node is read,
 * encoded and hashed once, however many keys below it change.
 */
import {KECCAK256_RLP} from "@ethereumjs/util";
import {keccak256} from "../../storage/hash/keccak.ts";
import {sameBytes} from "./byteKey.ts";
import {decodeList, encodeList} from "./nodeRlp.ts";
import {
  BRANCHES,
  decodePath,
  encodePath,
  makeNode,
  NO_CHILD,
  type PutNode,
  refer,
  splitByNibble,
  type TrieEntry,
  type TrieNode,
} from "./trieShape.ts";

export interface TrieWrite {
  /** One nibble in a byte. All keys of a trie are of one length. */
  readonly path: Uint8Array;
  /** undefined: the key is removed, if it is there. */
  readonly value: Uint8Array | undefined;
}

export interface NodesByHash {
  /** @returns the node's RLP. @throws if the node is not there */
  read(hash: Uint8Array): Uint8Array;
  /** Also takes nodes that the new trie does not have, where keys were removed. @param bytes - the node's RLP */
  write(hash: Uint8Array, bytes: Uint8Array): void;
}

/**
 * @param writes - no two with the same path
 * @returns the root of the trie with the writes; its new nodes are written
 */
export function updateTrie(nodes: NodesByHash, root: Uint8Array, writes: readonly TrieWrite[]): Uint8Array {
  if (writes.length === 0) return root;
  const before = sameBytes(root, KECCAK256_RLP) ? undefined : decodeList(nodes.read(root));
  const after = new TrieUpdate(nodes).update(before, writes, 0);
  if (after === undefined) return KECCAK256_RLP;
  const bytes = encodeList(after);
  const hash = keccak256(bytes);
  nodes.write(hash, bytes);
  return hash;
}

class TrieUpdate {
  private readonly put: PutNode;

  constructor(private readonly nodes: NodesByHash) {
    this.put = (hash, bytes) => nodes.write(hash, bytes);
  }

  /** @param writes - at least one, all below `node`, which is `depth` nibbles down. @returns undefined if nothing is left */
  update(node: TrieNode | undefined, writes: readonly TrieWrite[], depth: number): TrieNode | undefined {
    if (node === undefined) return this.make(toEntries(writes), depth);
    if (node.length > BRANCHES) return this.updateBranch(node, writes, depth);
    const {path, isLeaf} = decodePath(node[0] as Uint8Array);
    if (isLeaf) return this.updateLeaf({path, value: node[1] as Uint8Array}, writes, depth);
    const child = node[1] as Uint8Array | TrieNode;
    const shared = countShared(path, writes, depth);
    if (shared === path.length)
      return this.prefix(path, this.update(this.resolve(child), writes, depth + shared));
    const branch: TrieNode = new Array<Uint8Array>(BRANCHES + 1).fill(NO_CHILD);
    const rest = path.subarray(shared + 1);
    branch[path[shared] as number] =
      rest.length === 0 ? child : refer([encodePath(rest, false), child], this.put);
    return this.prefix(path.subarray(0, shared), this.updateBranch(branch, writes, depth + shared));
  }

  private updateLeaf(leaf: TrieEntry, writes: readonly TrieWrite[], depth: number): TrieNode | undefined {
    const entries = toEntries(writes);
    const [{path}] = writes as [TrieWrite, ...TrieWrite[]];
    const own = {path: joinPaths(path.subarray(0, depth), leaf.path), value: leaf.value};
    if (!writes.some(write => sameBytes(write.path, own.path))) entries.push(own);
    return this.make(entries, depth);
  }

  private updateBranch(node: TrieNode, writes: readonly TrieWrite[], depth: number): TrieNode | undefined {
    const children = [...node];
    for (const [nibble, below] of splitByNibble(writes, depth).entries()) {
      if (below === undefined) continue;
      const child = children[nibble] as Uint8Array | TrieNode;
      const updated = this.update(child.length === 0 ? undefined : this.resolve(child), below, depth + 1);
      children[nibble] = updated === undefined ? NO_CHILD : refer(updated, this.put);
    }
    const left = children.filter(child => child.length > 0);
    if (left.length !== 1) return left.length === 0 ? undefined : children;
    const [only] = left as [Uint8Array | TrieNode];
    return this.prefix(Uint8Array.of(children.indexOf(only)), this.resolve(only));
  }

  private make(entries: readonly TrieEntry[], depth: number): TrieNode | undefined {
    return entries.length === 0 ? undefined : makeNode(entries, depth, this.put);
  }

  /** Puts a path above a node. A leaf and an extension take it into their own. */
  private prefix(path: Uint8Array, node: TrieNode | undefined): TrieNode | undefined {
    if (node === undefined || path.length === 0) return node;
    if (node.length > BRANCHES) return [encodePath(path, false), refer(node, this.put)];
    const own = decodePath(node[0] as Uint8Array);
    return [encodePath(joinPaths(path, own.path), own.isLeaf), node[1] as Uint8Array | TrieNode];
  }

  private resolve(child: Uint8Array | TrieNode): TrieNode {
    return child instanceof Uint8Array ? decodeList(this.nodes.read(child)) : child;
  }
}

function toEntries(writes: readonly TrieWrite[]): TrieEntry[] {
  return writes.flatMap(({path, value}) => (value === undefined ? [] : [{path, value}]));
}

/** How many nibbles of `path` all writes have at `depth`. */
function countShared(path: Uint8Array, writes: readonly TrieWrite[], depth: number): number {
  let shared = 0;
  while (shared < path.length && writes.every(write => write.path[depth + shared] === path[shared])) shared++;
  return shared;
}

function joinPaths(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
