/**
 * A cache of hashes of two nodes.
 *
 * The proofs of one block share the nodes near its root: in a tree of a million accounts, 20 of a path's 40 branches
 * are the same for all leaves, and most of the next ten have been met before. A hash costs about 1 us with SHA-256 and
 * 27 us with poseidon2; finding it here costs 0.1 us.
 *
 * The key of an entry is all 64 bytes of its nodes, so a forged proof cannot find a hash of other nodes.
 *
 *   entry   left 32 | right 32      and the digest, 32 bytes: 8 192 entries, 800 KB
 *
 * Two pairs with the same entry replace each other.
 */

/** A power of two. With 8 192, the nodes of a tree's upper ten levels last from one proof to the next. */
const ENTRIES = 8192;
const NODE_BYTES = 32;

export type HashPair = (left: Uint8Array, right: Uint8Array) => Uint8Array;

export class PairMemo {
  /** Allocated at the first hash: an application may import a suite without using it. */
  private table:
    | {readonly isFilled: Uint8Array; readonly pairs: Uint8Array; readonly digests: Uint8Array}
    | undefined;

  constructor(private readonly hashPair: HashPair) {}

  /** Parts of other lengths than 32 bytes are hashed each time. @returns a new array, which callers may change */
  hash(left: Uint8Array, right: Uint8Array): Uint8Array {
    if (left.length !== NODE_BYTES || right.length !== NODE_BYTES) return this.hashPair(left, right);
    return this.find(left, 0, right, 0) ?? this.hashAndRemember(left, right);
  }

  /** The same for left and right in one array of 64 bytes. */
  hashJoined(pair: Uint8Array): Uint8Array {
    const found = pair.length === 2 * NODE_BYTES ? this.find(pair, 0, pair, NODE_BYTES) : undefined;
    return found ?? this.hash(pair.subarray(0, NODE_BYTES), pair.subarray(NODE_BYTES));
  }

  private find(left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number): Uint8Array | undefined {
    if (this.table === undefined) return undefined;
    const {isFilled, pairs, digests} = this.table;
    const entry = chooseEntry(left, leftAt, right, rightAt);
    const start = entry * 2 * NODE_BYTES;
    const isFound =
      isFilled[entry] === 1 &&
      isSame(pairs, start, left, leftAt) &&
      isSame(pairs, start + NODE_BYTES, right, rightAt);
    return isFound ? digests.slice(entry * NODE_BYTES, (entry + 1) * NODE_BYTES) : undefined;
  }

  private hashAndRemember(left: Uint8Array, right: Uint8Array): Uint8Array {
    const digest = this.hashPair(left, right);
    this.table ??= {
      isFilled: new Uint8Array(ENTRIES),
      pairs: new Uint8Array(ENTRIES * 2 * NODE_BYTES),
      digests: new Uint8Array(ENTRIES * NODE_BYTES),
    };
    const {isFilled, pairs, digests} = this.table;
    const entry = chooseEntry(left, 0, right, 0);
    pairs.set(left, entry * 2 * NODE_BYTES);
    pairs.set(right, entry * 2 * NODE_BYTES + NODE_BYTES);
    digests.set(digest, entry * NODE_BYTES);
    isFilled[entry] = 1;
    return digest;
  }
}

/** Nodes are hashes, so any of their bytes will do. Of a poseidon2 limb, the first has only seven bits. */
function chooseEntry(left: Uint8Array, leftAt: number, right: Uint8Array, rightAt: number): number {
  const low = (left[leftAt + 1] as number) ^ (right[rightAt + 5] as number);
  const high = (left[leftAt + 2] as number) ^ (right[rightAt + 6] as number);
  return ((high << 8) | low) % ENTRIES;
}

function isSame(a: Uint8Array, aAt: number, b: Uint8Array, bAt: number): boolean {
  for (let i = 0; i < NODE_BYTES; i++) if (a[aAt + i] !== b[bAt + i]) return false;
  return true;
}
