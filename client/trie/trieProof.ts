/**
 * The proof of one key of Ethereum's state trie or of a storage trie: the RLP of the nodes from the root down to where the key is, or
 * to where it would be.
 *
 *   branch      16 children | empty                            a child is empty, the hash of a node, or the node itself
 *   extension   digits of the way | its child                  a node is in its parent if its RLP is shorter than a hash
 *   leaf        all digits that are left | value
 *
 * A node that is in its parent may stand in the list too, right after the parent, as reth and anvil write it. geth leaves it out.
 * So may the branch below an extension that ends a proof, as in answers of eth_getMultiProof.
 */

import {keccak_256} from "@noble/hashes/sha3.js";
import {isEqual} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {count} from "../bytes/values.ts";
import {check, readArray, readBytes} from "../proof/strictJson.ts";
import {decodeList, type RlpItem, readHash} from "./rlp.ts";

/** Root of a trie without keys: the hash of the empty text's RLP. */
export const EMPTY_TRIE: Uint8Array = decodeHex(
  "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
);
const EMPTY_NODE = Uint8Array.of(0x80);

const HASH_BYTES = 32;
/** Hexadecimal digits of a hashed key. */
const KEY_DIGITS = 64;
/** A branch for each digit, and a leaf. */
const MAX_NODES = KEY_DIGITS + 1;
/** A branch with 16 hashes. */
export const MAX_NODE_BYTES = 532;
const MAX_NODE_TEXT = 2 + 2 * MAX_NODE_BYTES;
const BRANCH_ITEMS = 17;

/** A node, and its place in the proof. */
export interface PlacedNode {
  readonly at: string;
  readonly node: Uint8Array;
}

/** Where a walk has its nodes from. */
export interface NodeSource {
  /** @returns the node that has this hash. @throws ProofError if there is no such node */
  take(hash: Uint8Array, isRoot: boolean): PlacedNode;
  /** Told of a node that may come next: one in its parent, or below an extension that leaves the key's way. */
  skip?(child: RlpItem): void;
}

/**
 * @param root - the trusted root, 32 bytes
 * @param path - hash of the address, or of the slot as a word: 32 bytes
 * @param proof - texts of the nodes
 * @returns the value, not empty; undefined if the key's absence is proven
 * @throws ProofError
 */
export function verifyTrieKey(
  root: Uint8Array,
  path: Uint8Array,
  at: string,
  proof: unknown,
): Uint8Array | undefined {
  const nodes = readArray(at, proof, {least: 0, most: MAX_NODES, what: "nodes"}, node => node);
  const list = new NodeList(at, nodes);
  const value = isEqual(root, EMPTY_TRIE) ? list.skipEmpty() : walkTrie(root, path, list);
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
      check(depth < KEY_DIGITS, at, "a branch has more digits above it than a key");
      check(isEmpty(items[16] as RlpItem), at, "a branch has a value");
      child = items[digitAt(path, depth)] as RlpItem;
      if (isEmpty(child)) return undefined;
      depth++;
    } else {
      check(items.length === 2, at, () => `expected a node of 2 or 17 items, got ${items.length}`);
      const [way, below] = items as [RlpItem, RlpItem];
      const {isLeaf, digits} = readWay(at, way);
      const isOnWay = digits.every((digit, i) => digit === digitAt(path, depth + i));
      depth += digits.length;
      if (isLeaf) {
        check(depth === KEY_DIGITS, at, "a leaf has other digits than are left");
        check(!below.isList && below.payload.length > 0, at, "a leaf has no value");
        return isOnWay ? below.payload : undefined;
      }
      check(digits.length > 0 && depth < KEY_DIGITS, at, "an extension has no digits, or more than are left");
      if (!isOnWay) {
        source.skip?.(below);
        return undefined;
      }
      child = below;
    }
    if (child.isList) {
      node = child.encoded;
      check(node.length < HASH_BYTES, at, "a node as long as a hash is in its parent");
      source.skip?.(child);
    } else ({at, node} = source.take(readHash(at, child), false));
  }
}

/** @throws ProofError unless the node has this hash, and is long enough to stand alone */
export function checkNode(at: string, node: Uint8Array, hash: Uint8Array, isRoot: boolean): void {
  const rule = isRoot ? "does not hash to the trusted root" : "is not the child";
  check(isEqual(keccak_256(node), hash), at, rule);
  check(isRoot || node.length >= HASH_BYTES, at, "a node as short as that is in its parent");
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

  /** geth sends no node of an empty trie, others its root. */
  skipEmpty(): undefined {
    if (this.nodes.length > 0) check(isEqual(this.read(), EMPTY_NODE), this.at, "the trie is empty");
  }

  end(): void {
    const isEnd = this.used === this.nodes.length;
    check(isEnd, this.place, "nothing follows where the key is, or would be");
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

  /** Of the next node. */
  private get place(): string {
    return `${this.at}[${this.used}]`;
  }
}

/** The digits of an extension or a leaf: the first byte has two flags, and the first digit of an odd number. */
function readWay(at: string, {isList, payload}: RlpItem): {isLeaf: boolean; digits: number[]} {
  const first = payload[0] ?? 0x100;
  const isOdd = (first & 0x10) !== 0;
  check(!isList && first < 0x40 && (isOdd || (first & 0x0f) === 0), at, "its digits are not encoded as such");
  const digits: number[] = [];
  for (let i = isOdd ? 1 : 2; i < 2 * payload.length; i++) digits.push(digitAt(payload, i));
  return {isLeaf: (first & 0x20) !== 0, digits};
}

function digitAt(bytes: Uint8Array, i: number): number {
  const byte = bytes[i >> 1] ?? 0;
  return i % 2 === 0 ? byte >> 4 : byte & 0x0f;
}

function isEmpty({isList, payload}: RlpItem): boolean {
  return !isList && payload.length === 0;
}
