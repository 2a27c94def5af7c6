/**
 * Computes the root of a complete tree from its leaves alone. The links follow from the order of the hKeys:
 *
 *   head  <->  least hKey  <->  ..  <->  greatest hKey  <->  tail
 *
 * Memory: 76 bytes a leaf, and for a moment twice that, while an array grows.
 */
import {isEqual} from "../bytes/byteString.ts";
import {encodeLeafOpening, encodeRootNode, type HashSuite, zeroSubTrees} from "../hash/hashSuites.ts";

const DEPTH = 40;
const HASH_BYTES = 32;
const FIRST_LEAVES = 1024;
/** Before the leaves with a key: head and tail. */
const ENDS = 2;

export class TreeFolding {
  /** Leaf indexes, ascending; so are those of the nodes above them, height by height. */
  private indexes = new Float64Array(FIRST_LEAVES);
  private hKeys = new Uint8Array(FIRST_LEAVES * HASH_BYTES);
  /** The hVals; later the hashes of leaves and nodes. */
  private hashes = new Uint8Array(FIRST_LEAVES * HASH_BYTES);
  private count = ENDS;

  constructor(private readonly suite: HashSuite) {
    this.indexes[1] = 1;
    this.hKeys.set(suite.tailKey, HASH_BYTES);
  }

  /** @param leafIndex - more than those before */
  add(leafIndex: number, {hKey, hVal}: {readonly hKey: Uint8Array; readonly hVal: Uint8Array}): void {
    const {count} = this;
    if (count === this.indexes.length) this.grow();
    this.indexes[count] = leafIndex;
    this.hKeys.set(hKey, count * HASH_BYTES);
    this.hashes.set(hVal, count * HASH_BYTES);
    this.count++;
  }

  /** Consumes the leaves. @returns the top root. @throws Error if two leaves have the same key */
  fold(nextFreeNode: number): Uint8Array {
    this.hashLeaves();
    for (let height = 0; height < DEPTH; height++) this.foldHeight(height);
    return this.suite.hash(encodeRootNode(this.suite, nextFreeNode, this.hashes.slice(0, HASH_BYTES)));
  }

  private hashLeaves(): void {
    const {suite, count, indexes, hashes} = this;
    const order = new Uint32Array(count).map((_, at) => at);
    order.sort((a, b) => this.compareKeys(a, b));
    const indexAt = (place: number) => indexes[order[place] as number] as number;
    for (let place = 0; place < count; place++) {
      const at = order[place] as number;
      const isFirst = place === 0;
      const isLast = place === count - 1;
      const hKey = this.hKeyAt(at);
      if (!isLast && isEqual(hKey, this.hKeyAt(order[place + 1] as number)))
        throw new Error(`the leaves ${indexAt(place)} and ${indexAt(place + 1)} have the same key`);
      // The head's prev and the tail's next are themselves.
      const [prev, next] = [indexAt(isFirst ? place : place - 1), indexAt(isLast ? place : place + 1)];
      const hVal = hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
      hashes.set(suite.hash(encodeLeafOpening(suite, {prev, next, hKey, hVal})), at * HASH_BYTES);
    }
  }

  /** Replaces the nodes of a height by their parents, in place. */
  private foldHeight(height: number): void {
    const {suite, indexes, hashes, count} = this;
    const zero = zeroSubTrees(suite)[height] as Uint8Array;
    const pair = new Uint8Array(2 * HASH_BYTES);
    let above = 0;
    for (let at = 0; at < count; at++) {
      const index = indexes[at] as number;
      const own = hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
      const isRight = index % 2 === 1;
      const hasRight = !isRight && at + 1 < count && indexes[at + 1] === index + 1;
      pair.set(isRight ? zero : own, 0);
      if (isRight) pair.set(own, HASH_BYTES);
      else if (hasRight) pair.set(hashes.subarray((at + 1) * HASH_BYTES, (at + 2) * HASH_BYTES), HASH_BYTES);
      else pair.set(zero, HASH_BYTES);
      if (hasRight) at++;
      hashes.set(suite.hash(pair), above * HASH_BYTES);
      indexes[above++] = Math.floor(index / 2);
    }
    this.count = above;
  }

  /** Makes no views: a sort of a million leaves compares 20 million times. */
  private compareKeys(a: number, b: number): number {
    const {hKeys} = this;
    for (let i = 0; i < HASH_BYTES; i++) {
      const difference = (hKeys[a * HASH_BYTES + i] as number) - (hKeys[b * HASH_BYTES + i] as number);
      if (difference !== 0) return difference;
    }
    return 0;
  }

  private hKeyAt(at: number): Uint8Array {
    return this.hKeys.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES);
  }

  private grow(): void {
    const length = 2 * this.indexes.length;
    const grown = <Memory extends Uint8Array | Float64Array>(old: Memory, memory: Memory): Memory => {
      memory.set(old);
      return memory;
    };
    this.indexes = grown(this.indexes, new Float64Array(length));
    this.hKeys = grown(this.hKeys, new Uint8Array(length * HASH_BYTES));
    this.hashes = grown(this.hashes, new Uint8Array(length * HASH_BYTES));
  }
}
