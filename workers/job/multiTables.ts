/**
 * One call for a multiproof, and the tables that its records are written from. They lie in one memory, which threads share if
 * they share the work. The parts of the proof are that of the account tree, and then the storage parts, in the order of their
 * accounts' leaves.
 *
 *   counts        u32 * 4           bytes of the call | its units | its entries | leaves of the account tree's part
 *   places        f64 * 2 * units   by unit: lefts, rights (storage/tree/keyTable.ts), or no storage tree
 *   leafIndexes   f64 * 2 * units   by leaf of all parts
 *   ownKeys       i32 * 2 * units   by leaf of all parts: the number of a key in its part
 *   keyUnits      u32 * units       by key of all parts
 *   leavesAt      u32 * leaves + 1  by leaf of the account tree: where the leaves of its storage part begin
 *   keysAt        u32 * leaves + 1  and where its keys begin. A leaf has at most 2 * entries of both
 *   numbers       u16 * 2 * units   by key of all parts: lefts, rights of its key table
 *   call          the packed call (packedCall.ts)
 *
 *   unit      an entry or a key of the call, in packed order     | entry 0 | key | key | entry 1 | entry 2 | key |
 *   record    a leaf of a part, in the order of the proof        | account's leaf | account's leaf | its slot's leaf | ..
 *
 * A unit is a key of a part, unless it is the slot of an account that has no storage.
 */
import {type KeyPlaces, type KeyTable, NO_KEY} from "../../storage/tree/keyTable.ts";
import {listEntries, readKeyCount} from "./packedCall.ts";

const COUNTS = 4;
/** In the left place of a slot: its account has no storage tree, or a new one. */
const NO_TREE = -2;

export class MultiTables {
  readonly units: number;
  readonly call: Buffer;
  /** Where the entries begin in `call`. */
  readonly entries: readonly number[];
  /** By unit. */
  readonly places: KeyPlaces;
  /** By unit: leaf pages that the search has read. Empty if threads share the tables. */
  readonly pages: (Buffer | undefined)[] = [];
  readonly leafIndexes: Float64Array;
  readonly ownKeys: Int32Array;
  readonly keyUnits: Uint32Array;
  readonly leavesAt: Uint32Array;
  readonly keysAt: Uint32Array;
  readonly leftNumbers: Uint16Array;
  readonly rightNumbers: Uint16Array;
  private readonly counts: Uint32Array;

  /** @param memory - of `createTables`, here or in another thread */
  constructor(memory: ArrayBufferLike) {
    this.counts = new Uint32Array(memory, 0, COUNTS);
    const callBytes = this.counts[0] as number;
    const units = this.counts[1] as number;
    const leaves = 2 * (this.counts[2] as number) + 1;
    let at = this.counts.byteLength;
    const next = (bytes: number): number => {
      const start = at;
      at += bytes;
      return start;
    };
    this.units = units;
    this.places = {
      lefts: new Float64Array(memory, next(8 * units), units),
      rights: new Float64Array(memory, next(8 * units), units),
    };
    this.leafIndexes = new Float64Array(memory, next(16 * units), 2 * units);
    this.ownKeys = new Int32Array(memory, next(8 * units), 2 * units);
    this.keyUnits = new Uint32Array(memory, next(4 * units), units);
    this.leavesAt = new Uint32Array(memory, next(4 * leaves), leaves);
    this.keysAt = new Uint32Array(memory, next(4 * leaves), leaves);
    this.leftNumbers = new Uint16Array(memory, next(2 * units), units);
    this.rightNumbers = new Uint16Array(memory, next(2 * units), units);
    this.call = Buffer.from(memory, at, callBytes);
    this.entries = listEntries(this.call);
  }

  /** Leaves of the account tree's part. */
  get accountLeaves(): number {
    return this.counts[3] as number;
  }

  set accountLeaves(count: number) {
    this.counts[3] = count;
  }

  /** Number of records. */
  get records(): number {
    return this.leavesAt[this.accountLeaves] as number;
  }

  /** The account tree's part. */
  get accountPart(): KeyTable {
    return this.part(0, this.accountLeaves, 0, this.entries.length);
  }

  /** Notes that a slot has no storage tree to be in. */
  setNoTree(unit: number): void {
    this.places.lefts[unit] = NO_TREE;
  }

  hasTree(unit: number): boolean {
    return this.places.lefts[unit] !== NO_TREE;
  }

  /** The storage part of an account's leaf; undefined if it has none. @param leaf - number of the account's leaf */
  storagePart(leaf: number): KeyTable | undefined {
    const {leavesAt, keysAt} = this;
    const [leaves, keys] = [leavesAt[leaf] as number, keysAt[leaf] as number];
    const [leavesEnd, keysEnd] = [leavesAt[leaf + 1] as number, keysAt[leaf + 1] as number];
    return leaves === leavesEnd ? undefined : this.part(leaves, leavesEnd, keys, keysEnd);
  }

  /** Number of the record of an account's leaf. Those of its storage part follow. */
  recordOf(leaf: number): number {
    return leaf + (this.leavesAt[leaf] as number) - this.accountLeaves;
  }

  /** The account's leaf that a record belongs to, as its own or one of its storage part. */
  leafOf(record: number): number {
    let low = 0;
    let high = this.accountLeaves - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.recordOf(middle) <= record) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  private part(leaves: number, leavesEnd: number, keys: number, keysEnd: number): KeyTable {
    const ownKeys = this.ownKeys.subarray(leaves, leavesEnd);
    const {pages, keyUnits} = this;
    return {
      lefts: this.leftNumbers.subarray(keys, keysEnd),
      rights: this.rightNumbers.subarray(keys, keysEnd),
      leafIndexes: this.leafIndexes.subarray(leaves, leavesEnd),
      ownKeys,
      pages:
        pages.length === 0
          ? pages
          : Array.from(ownKeys, own => (own === NO_KEY ? undefined : pages[keyUnits[keys + own] as number])),
    };
  }
}

/**
 * The memory of the tables of one packed call.
 *
 * @param Memory - ArrayBuffer, or SharedArrayBuffer if threads share it
 */
export function createTables<T extends ArrayBufferLike>(
  call: Uint8Array,
  Memory: new (bytes: number) => T,
): T {
  const bytes = Buffer.from(call.buffer, call.byteOffset, call.length);
  const entries = listEntries(bytes);
  let units = entries.length;
  for (const entry of entries) units += readKeyCount(bytes, entry);
  const leaves = 2 * entries.length + 1;
  const size = 4 * COUNTS + units * (16 + 16 + 8 + 4 + 4) + leaves * 8 + call.length;
  const memory = new Memory(size);
  new Uint32Array(memory, 0, COUNTS).set([call.length, units, entries.length]);
  new Uint8Array(memory).set(call, size - call.length);
  return memory;
}
