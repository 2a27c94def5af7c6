/**
 * The proof of one key of Ethereum's state trie or of a storage trie: the RLP of the nodes from the root down to the
 * key's leaf, or to the node that shows its absence.
 *
 *   branch      16 children | empty                    a child is empty, the hash of a node, or the inlined node
 *   extension   nibbles of the path | its child        nodes under 32 bytes are inlined
 *   leaf        the rest of the path | value
 *
 * reth and anvil also list an inlined node by itself, right after its parent; geth does not. Both forms are accepted.
 * So is the branch below an extension at the end of a proof of absence, which answers of eth_getMultiProof list.
 */

import {keccak_256} from "@noble/hashes/sha3.js";
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {count} from "../bytes/values.ts";
import {check, plainBytes, readArray, readBytes} from "../proof/strictJson.ts";
import {decodeList, type RlpItem, readHash} from "./rlp.ts";

/** Root of an empty trie: the hash of the RLP of an empty string. */
export const EMPTY_TRIE: Uint8Array = decodeHex(
  "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
);
const EMPTY_NODE = Uint8Array.of(0x80);

const HASH_BYTES = 32;
const KEY_NIBBLES = 64;
/** A branch for each nibble, and a leaf. */
const MAX_NODES = KEY_NIBBLES + 1;
/** A branch with 16 hashes. */
export const MAX_NODE_BYTES = 532;
const MAX_NODE_TEXT = 2 + 2 * MAX_NODE_BYTES;
const BRANCH_ITEMS = 17;

export interface PlacedNode {
  readonly at: string;
  readonly node: Uint8Array;
}

export interface NodeSource {
  /** @returns the node that has this hash. @throws ProofError if there is no such node */
  take(hash: Uint8Array, isRoot: boolean): PlacedNode;
  /** Called for a node that the proof may list next, though the walk does not need it. */
  skip?(child: RlpItem): void;
}

/** @param path - hash of the address or of the slot, 32 bytes. @returns undefined if absence is proven */
export function verifyTrieKey(
  root: Uint8Array,
  path: Uint8Array,
  at: string,
  proof: unknown,
): Uint8Array | undefined {
  const nodes = readArray(at, proof, {least: 0, most: MAX_NODES, what: "nodes"}, node => node);
  const list = new NodeList(at, nodes);
  const value = isEqual(plainBytes("root", root), EMPTY_TRIE) ? list.skipEmpty() : walkTrie(root, path, list);
  list.end();
  return value;
}

/** @param root - of a trie that is not empty. @returns as verifyTrieKey. @throws ProofError */
export function walkTrie(root: Uint8Array, path: Uint8Array, source: NodeSource): Uint8Array | undefined {
  let {at, node} = source.take(root, true);
  for (let depth = 0; ; ) {
    const items = decodeList(at, node);
    let child: RlpItem;
    if (items.length === BRANCH_ITEMS) {
      check(depth < KEY_NIBBLES, at, "a branch lies below 64 nibbles");
      check(isEmpty(items[16] as RlpItem), at, "a branch has a value");
      child = items[nibbleAt(path, depth)] as RlpItem;
      if (isEmpty(child)) return undefined;
      depth++;
    } else {
      check(items.length === 2, at, () => `expected a node of 2 or 17 items, got ${items.length}`);
      const [encodedPath, below] = items as [RlpItem, RlpItem];
      const {isLeaf, nibbles} = readPath(at, encodedPath);
      const isOnPath = nibbles.every((nibble, i) => nibble === nibbleAt(path, depth + i));
      depth += nibbles.length;
      if (isLeaf) {
        check(depth === KEY_NIBBLES, at, "the path of a leaf does not end at 64 nibbles");
        check(!below.isList && below.payload.length > 0, at, "a leaf has no value");
        return isOnPath ? below.payload : undefined;
      }
      check(
        nibbles.length > 0 && depth < KEY_NIBBLES,
        at,
        "the path of an extension is empty, or reaches 64 nibbles",
      );
      if (!isOnPath) {
        source.skip?.(below);
        return undefined;
      }
      child = below;
    }
    if (child.isList) {
      node = child.encoded;
      check(node.length < HASH_BYTES, at, "an inlined node has 32 bytes or more");
      source.skip?.(child);
    } else ({at, node} = source.take(readHash(at, child), false));
  }
}

/** @throws ProofError unless the node has this hash, and is long enough to stand alone */
export function checkNode(at: string, node: Uint8Array, hash: Uint8Array, isRoot: boolean): void {
  const rule = isRoot ? "does not hash to the trusted root" : "is not the child";
  check(isEqual(keccak_256(node), hash), at, rule);
  check(isRoot || node.length >= HASH_BYTES, at, "a node under 32 bytes must be inlined in its parent");
}

/** The nodes of a proof of one key, and how many of them were used. */
class NodeList implements NodeSource {
  private used = 0;

  constructor(
    private readonly at: string,
    private readonly nodes: readonly unknown[],
  ) {}

  take(hash: Uint8Array, isRoot: boolean): PlacedNode {
    const {place} = this;
    const node = this.read();
    checkNode(place, node, hash, isRoot);
    return {at: place, node};
  }

  skip(child: RlpItem): void {
    if (!child.isList && this.used < this.nodes.length) this.take(readHash(this.place, child), false);
    else if (this.nodes[this.used] === encodeHex(child.encoded)) this.used++;
  }

  /** For an empty trie, geth sends no node and others send the root. */
  skipEmpty(): undefined {
    if (this.nodes.length > 0) check(isEqual(this.read(), EMPTY_NODE), this.at, "the trie is empty");
  }

  end(): void {
    const isEnd = this.used === this.nodes.length;
    check(isEnd, this.place, "trailing proof nodes");
  }

  private read(): Uint8Array {
    const {at, place, nodes, used} = this;
    const text = nodes[used];
    check(text !== undefined, at, () => `expected more than ${count(used, "node")}`);
    const isShort = typeof text !== "string" || text.length <= MAX_NODE_TEXT;
    check(isShort, place, `expected at most ${MAX_NODE_BYTES} bytes`);
    this.used++;
    return readBytes(place, text);
  }

  private get place(): string {
    return `${this.at}[${this.used}]`;
  }
}

/** Decodes a hex-prefix path: two flags, the first nibble of an odd number, then two nibbles a byte. */
function readPath(at: string, {isList, payload}: RlpItem): {isLeaf: boolean; nibbles: number[]} {
  const first = payload[0] ?? 0x100;
  const isOdd = (first & 0x10) !== 0;
  check(!isList && first < 0x40 && (isOdd || (first & 0x0f) === 0), at, "its path is not hex-prefix encoded");
  const nibbles: number[] = [];
  for (let i = isOdd ? 1 : 2; i < 2 * payload.length; i++) nibbles.push(nibbleAt(payload, i));
  return {isLeaf: (first & 0x20) !== 0, nibbles};
}

function nibbleAt(bytes: Uint8Array, i: number): number {
  const byte = bytes[i >> 1] ?? 0;
  return i % 2 === 0 ? byte >> 4 : byte & 0x0f;
}

function isEmpty({isList, payload}: RlpItem): boolean {
  return !isList && payload.length === 0;
}
