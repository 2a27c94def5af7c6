/**
 * A path in Ethereum's state trie, or in the storage trie of an account: what eth_getProof (EIP-1186) shows of a trie.
 *
 *   bytes   | the root | the next node that has a hash of its own | ...       RLP, back to back
 *   ends               e0                                         e1
 *
 * A node shorter than 32 bytes stands inside its parent. Every node that is read is checked by the hash that its parent has for it.
 */
import type {StateReader} from "../block/stateReader.ts";
import {StoreError} from "../errors.ts";
import {keccak256} from "../hash/keccak.ts";
import {toHex} from "../hex.ts";

/** Of a path: accounts and slots are found by hashes. */
const NIBBLES = 64;
const HASH_BYTES = 32;
/** Of a branch with 16 hashes. */
const MAX_NODE_BYTES = 532;
/** A branch for each nibble, and a leaf. An extension takes the place of a branch. */
const MAX_NODES = NIBBLES + 1;
/** Nodes near the root are kept once they are checked: the first ones of each path, 2.4 MB in all. Checking a branch takes 4 h. */
const KEPT_DEPTH = 4;
const KEPT_NODES = 4500;
export const MAX_PATH_BYTES: number = MAX_NODES * MAX_NODE_BYTES;

const STRING = 0x80;
const HASH = STRING + HASH_BYTES;
const LONG_STRING = 0xb8;
const LIST = 0xc0;
const LONG_LIST = 0xf8;
/** Bits of the first half byte of a short node's path. */
const IS_ODD = 0x10;
const IS_LEAF = 0x20;

/** keccak256 of the RLP of no bytes. */
const EMPTY_ROOT = keccak256(Uint8Array.of(STRING));

export class TriePath {
  /** How many nodes the path has. */
  count = 0;
  /** Where each of them ends in `bytes`. */
  readonly ends = new Uint32Array(MAX_NODES);
  private readonly kept = new Map<string, Uint8Array>();
  private root: Uint8Array = EMPTY_ROOT;
  private path: Uint8Array = EMPTY_ROOT;

  /** @param bytes - MAX_PATH_BYTES for the nodes */
  constructor(
    private readonly store: Pick<StateReader, "readExecutionNode">,
    readonly bytes: Uint8Array,
  ) {}

  /**
   * Hot: once per account and slot of a proof.
   *
   * @param root - 32 bytes. @param path - 32 bytes
   * @returns what the trie has at the end of the path, a view until the next call. undefined: the nodes show that it has nothing there
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED naming the node
   */
  open(root: Uint8Array, path: Uint8Array): Uint8Array | undefined {
    const {bytes} = this;
    this.count = 0;
    this.root = root;
    this.path = path;
    if (Buffer.compare(root, EMPTY_ROOT) === 0) return undefined;
    let at = this.load(root);
    for (let depth = 0; ; ) {
      const first = itemsAt(bytes, at);
      const end = itemEnd(bytes, at);
      const second = itemEnd(bytes, first);
      let child: number;
      if (itemEnd(bytes, second) === end) {
        const shared = this.matchNibbles(first, second, depth);
        if (shared < 0) return undefined;
        depth += shared;
        child = second;
        if ((bytes[pathAt(bytes, first)] & IS_LEAF) !== 0) return this.valueAt(child, depth);
        // So no path has more than MAX_NODES.
        if (shared === 0) throw this.damage("an extension has no nibbles");
      } else {
        if (depth === NIBBLES) throw this.damage("it is longer than a hash");
        child = first;
        for (let i = nibbleAt(path, depth); i > 0; i--) child = itemEnd(bytes, child);
        if (bytes[child] === STRING) return undefined;
        depth++;
      }
      // A list: the child itself.
      if (bytes[child] >= LIST) at = child;
      else if (bytes[child] === HASH) at = this.load(bytes.subarray(child + 1, child + 1 + HASH_BYTES));
      else throw this.damage("a child is neither a hash nor a node");
    }
  }

  /** @returns where the node begins */
  private load(hash: Uint8Array): number {
    const node = this.readNode(hash);
    const at = this.count === 0 ? 0 : this.ends[this.count - 1];
    this.bytes.set(node, at);
    this.ends[this.count++] = at + node.length;
    return at;
  }

  private readNode(hash: Uint8Array): Uint8Array {
    const {kept} = this;
    const name = Buffer.from(hash.buffer, hash.byteOffset, HASH_BYTES).toString("hex");
    const known = kept.get(name);
    if (known !== undefined) return known;
    const node = this.store.readExecutionNode(name);
    if (node === undefined) throw new StoreError("RECORD_MISSING", `trie node 0x${name} is not in the store`);
    if (node.length > MAX_NODE_BYTES || Buffer.compare(keccak256(node), hash) !== 0)
      throw new StoreError("RECORD_DAMAGED", `trie node 0x${name}: its bytes have another hash`);
    if (this.count < KEPT_DEPTH) {
      // The first name is the oldest one.
      for (const oldest of kept.keys()) {
        if (kept.size < KEPT_NODES) break;
        kept.delete(oldest);
      }
      kept.set(name, node);
    }
    return node;
  }

  /** @returns how many nibbles of the short node's path from `at` to `end` go on with this one at `depth`; -1 if they do not */
  private matchNibbles(at: number, end: number, depth: number): number {
    const {bytes, path} = this;
    let from = pathAt(bytes, at);
    const isOdd = (bytes[from] & IS_ODD) !== 0;
    const count = 2 * (end - from - 1) + (isOdd ? 1 : 0);
    if (depth + count > NIBBLES) throw this.damage("it is longer than a hash");
    let position = depth;
    if (isOdd && (bytes[from] & 0x0f) !== nibbleAt(path, position++)) return -1;
    for (from++; from < end; from++, position += 2)
      if (bytes[from] !== nibbleAt(path, position) * 16 + nibbleAt(path, position + 1)) return -1;
    return count;
  }

  private valueAt(at: number, depth: number): Uint8Array {
    const {bytes} = this;
    if (depth !== NIBBLES || bytes[at] >= LIST) throw this.damage("it does not end with a value");
    return bytes.subarray(pathAt(bytes, at), itemEnd(bytes, at));
  }

  private damage(what: string): StoreError {
    return new StoreError(
      "RECORD_DAMAGED",
      `the path ${toHex(this.path)} of the trie with the root ${toHex(this.root)}: ${what}`,
    );
  }
}

/** The first item of a list. */
function itemsAt(bytes: Uint8Array, at: number): number {
  return bytes[at] < LONG_LIST ? at + 1 : at + 2 + (bytes[at] - LONG_LIST);
}

/** Where the bytes of a string of at most 255 bytes begin. */
function pathAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] < STRING) return at;
  return bytes[at] < LONG_STRING ? at + 1 : at + 2;
}

/** Where the item that begins at `at` ends. Nodes have at most MAX_NODE_BYTES, and so do their items. */
function itemEnd(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first < STRING) return at + 1;
  if (first < LONG_STRING) return at + 1 + first - STRING;
  if (first < LIST) return at + 2 + bytes[at + 1];
  if (first < LONG_LIST) return at + 1 + first - LIST;
  const length = first === LONG_LIST ? bytes[at + 1] : bytes[at + 1] * 256 + bytes[at + 2];
  return itemsAt(bytes, at) + length;
}

function nibbleAt(path: Uint8Array, position: number): number {
  const byte = path[position >> 1];
  return (position & 1) === 0 ? byte >> 4 : byte & 0x0f;
}
