/**
 * All leaves of one tree, collected in the order of their indexes before the tree is built. They are packed in memory:
 * 36 bytes and a body for each leaf, and 20 more bytes while the tree is built.
 *
 *   hKeys     32 bytes | 32 bytes | ...
 *   indexes   u32      | u32      | ...                                             the leaf indexes, ascending
 *   bodies    value length u8, value, key length u8, key | ...
 */
import {countBelow} from "../bisect.ts";
import {StoreError} from "../errors.ts";
import {sameHKey, sortByHKey} from "../hash/hKeyOrder.ts";
import {WORD_BYTES} from "../hash/suite.ts";
import {toHex} from "../hex.ts";
import {FIRST_FREE_NODE} from "../tree/emptyTree.ts";

/** Leaf indexes are u32 here. More leaves would not fit into the memory of a machine. */
const MAX_POSITIONS = 2 ** 32 - 1;
const FIRST_LEAVES = 64;
const FIRST_BYTES = 4096;

export interface TabledLeaf {
  readonly leafIndex: number;
  /** Views. */
  readonly hKey: Buffer;
  readonly value: Buffer;
  readonly key: Buffer;
}

export class LeafTable {
  count = 0;
  private hKeys: Buffer = Buffer.allocUnsafeSlow(FIRST_LEAVES * WORD_BYTES);
  private indexes = new Uint32Array(FIRST_LEAVES);
  private bodies: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  private bodiesEnd = 0;

  constructor(
    readonly where: string,
    readonly nextFreeNode: number,
  ) {
    if (nextFreeNode < FIRST_FREE_NODE || nextFreeNode > MAX_POSITIONS)
      throw new StoreError(
        "BLOCK_INVALID",
        `${where}: expected a next free index from ${FIRST_FREE_NODE} to ${MAX_POSITIONS}, got ${nextFreeNode}`,
      );
  }

  /**
   * @param value - as a leaf page has it, below 255 bytes. @param key - an address or a slot without leading zeros
   * @returns the offset of the value, for `valueAt`
   * @throws StoreError BLOCK_INVALID unless the index is above the last one and below nextFreeNode
   */
  add(leafIndex: number, hKey: Uint8Array, value: Uint8Array, key: Uint8Array): number {
    const least = this.count === 0 ? FIRST_FREE_NODE : this.leafIndexAt(this.count - 1) + 1;
    if (leafIndex < least || leafIndex >= this.nextFreeNode)
      throw new StoreError(
        "BLOCK_INVALID",
        `${this.where}: expected a leaf index from ${least} to ${this.nextFreeNode - 1} next, got ${leafIndex}`,
      );
    this.makeRoom(2 + value.length + key.length);
    this.hKeys.set(hKey, this.count * WORD_BYTES);
    this.indexes[this.count++] = leafIndex;
    const valueAt = this.bodiesEnd + 1;
    this.bodies[this.bodiesEnd] = value.length;
    this.bodies.set(value, valueAt);
    const keyAt = valueAt + value.length;
    this.bodies[keyAt] = key.length;
    this.bodies.set(key, keyAt + 1);
    this.bodiesEnd = keyAt + 1 + key.length;
    return valueAt;
  }

  hKeyAt(position: number): Buffer {
    return this.hKeys.subarray(position * WORD_BYTES, (position + 1) * WORD_BYTES);
  }

  leafIndexAt(position: number): number {
    return this.indexes[position] as number;
  }

  find(leafIndex: number): number | undefined {
    const position = countBelow(this.count, at => this.leafIndexAt(at) < leafIndex);
    return position < this.count && this.indexes[position] === leafIndex ? position : undefined;
  }

  /** The value at an offset that `add` returned: a view, which the caller may change. */
  valueAt(at: number): Buffer {
    return this.bodies.subarray(at, at + (this.bodies[at - 1] as number));
  }

  /** @returns positions, ascending by hKey. @throws StoreError BLOCK_INVALID if two leaves have the same one */
  sort(): Uint32Array {
    const hKeys = this.hKeys.subarray(0, this.count * WORD_BYTES);
    const order = sortByHKey(hKeys);
    for (let i = 1; i < order.length; i++) {
      const [one, other] = [order[i - 1] as number, order[i] as number];
      if (!sameHKey(hKeys, one, other)) continue;
      throw new StoreError(
        "BLOCK_INVALID",
        `${this.where}: leaves ${this.leafIndexAt(one)} and ${this.leafIndexAt(other)} have the same key: hKey ${toHex(this.hKeyAt(one))}`,
      );
    }
    return order;
  }

  *leaves(): Generator<TabledLeaf, undefined> {
    let at = 0;
    for (let position = 0; position < this.count; position++) {
      const value = this.valueAt(at + 1);
      const keyAt = at + 1 + value.length;
      const keyBytes = this.bodies[keyAt] as number;
      const key = this.bodies.subarray(keyAt + 1, keyAt + 1 + keyBytes);
      yield {leafIndex: this.leafIndexAt(position), hKey: this.hKeyAt(position), value, key};
      at = keyAt + 1 + keyBytes;
    }
  }

  private makeRoom(bodyBytes: number): void {
    if (this.count === this.indexes.length) {
      const indexes = new Uint32Array(2 * this.count);
      indexes.set(this.indexes);
      this.indexes = indexes;
      this.hKeys = doubled(this.hKeys);
    }
    while (this.bodiesEnd + bodyBytes > this.bodies.length) this.bodies = doubled(this.bodies);
  }
}

function doubled(bytes: Buffer): Buffer {
  const larger = Buffer.allocUnsafeSlow(2 * bytes.length);
  larger.set(bytes);
  return larger;
}
