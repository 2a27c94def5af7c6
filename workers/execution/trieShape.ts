/**
 * The shape of a Merkle-Patricia trie's nodes.
 *
 *   leaf        [path to the end, value]
 *   extension   [path, child]                   the child is a branch
 *   branch      [child 0, ..., child 15, ""]    no key is the start of another one, so a branch has no value
 *
 * A child is the node itself if its RLP is shorter than 32 bytes, else the keccak of its RLP; empty: there is none.
 */
import {keccak256} from "../../storage/hash/keccak.ts";
import {encodeList, type RlpItem} from "./nodeRlp.ts";

export type TrieNode = RlpItem[];

export interface TrieEntry {
  /** One nibble in a byte. */
  readonly path: Uint8Array;
  readonly value: Uint8Array;
}

/** Takes a node that others refer to by its hash. */
export type PutNode = (hash: Uint8Array, bytes: Uint8Array) => void;

export const BRANCHES = 16;
export const NO_CHILD = new Uint8Array(0);
export const HASH_BYTES = 32;

/** @param entries - at least one, alike in the first `depth` nibbles, no two with the same path */
export function makeNode(entries: readonly TrieEntry[], depth: number, put: PutNode): TrieNode {
  const [first] = entries as [TrieEntry, ...TrieEntry[]];
  if (entries.length === 1) return [encodePath(first.path.subarray(depth), true), first.value];
  let end = depth;
  while (entries.every(({path}) => path[end] === first.path[end])) end++;
  if (end > depth)
    return [encodePath(first.path.subarray(depth, end), false), refer(makeNode(entries, end, put), put)];
  const below = splitByNibble(entries, depth);
  return [
    ...below.map(group => (group === undefined ? NO_CHILD : refer(makeNode(group, depth + 1, put), put))),
    NO_CHILD,
  ];
}

/** @returns one group for each nibble at `depth`; undefined: it has none */
export function splitByNibble<T extends {readonly path: Uint8Array}>(
  entries: readonly T[],
  depth: number,
): (T[] | undefined)[] {
  const groups = new Array<T[] | undefined>(BRANCHES).fill(undefined);
  for (const entry of entries) {
    const nibble = entry.path[depth] as number;
    const group = groups[nibble];
    if (group === undefined) groups[nibble] = [entry];
    else group.push(entry);
  }
  return groups;
}

/** @returns what stands for the node in its parent */
export function refer(node: TrieNode, put: PutNode): Uint8Array | TrieNode {
  const bytes = encodeList(node);
  if (bytes.length < HASH_BYTES) return node;
  const hash = keccak256(bytes);
  put(hash, bytes);
  return hash;
}

/** Two nibbles in a byte, after a flag: 2 for a leaf, and 1 for an odd number of nibbles. */
export function encodePath(path: Uint8Array, isLeaf: boolean): Uint8Array {
  const odd = path.length % 2;
  const encoded = new Uint8Array((path.length + 2 - odd) / 2);
  encoded[0] = (isLeaf ? 0x20 : 0) + (odd === 1 ? 0x10 + (path[0] as number) : 0);
  for (let at = odd; at < path.length; at += 2)
    encoded[(at + 2 - odd) / 2] = (path[at] as number) * 16 + (path[at + 1] as number);
  return encoded;
}

export function decodePath(encoded: Uint8Array): {path: Uint8Array; isLeaf: boolean} {
  const flag = encoded[0] as number;
  return {path: toNibbles(encoded).subarray((flag & 0x10) === 0 ? 2 : 1), isLeaf: (flag & 0x20) !== 0};
}

/** Where an account or a slot stands in its trie. */
export function pathOf(key: Uint8Array): Uint8Array {
  return toNibbles(keccak256(key));
}

export function toNibbles(bytes: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    nibbles[2 * at] = byte >> 4;
    nibbles[2 * at + 1] = byte & 15;
  }
  return nibbles;
}
