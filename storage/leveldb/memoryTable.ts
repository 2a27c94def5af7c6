/**
 * What LevelDB's logs hold and no table yet: the newest version of each key in them. The records are loggedBatch.ts's.
 */
import {ByteReader} from "./byteReader.ts";
import {Kind} from "./internalKey.ts";
import type {Version} from "./tableReader.ts";

const COUNT_AT = 8;
const HEADER_BYTES = 12;

export class MemoryTable {
  /** By the key's bytes as latin1. */
  readonly #versions = new Map<string, Version>();

  /** @param batch - a log's record, in writing order. @throws RangeError if it is none */
  apply(batch: Buffer): void {
    const fields = new ByteReader(batch.subarray(HEADER_BYTES));
    for (let left = batch.readUInt32LE(COUNT_AT); left > 0; left--) {
      const kind = fields.byte();
      const key = fields.prefixedBytes();
      const value = kind === Kind.VALUE ? fields.prefixedBytes() : undefined;
      this.#versions.set(key.toString("latin1"), {key, value});
    }
  }

  /** undefined: the logs say nothing of it. */
  get(key: Buffer): Version | undefined {
    return this.#versions.get(key.toString("latin1"));
  }

  /** In key order. */
  sorted(): Version[] {
    return [...this.#versions.values()].sort((a, b) => Buffer.compare(a.key, b.key));
  }

  /** The last key below `bound`, deleted or not. */
  lastBelow(bound: Buffer): Buffer | undefined {
    let last: Buffer | undefined;
    for (const {key} of this.#versions.values())
      if (Buffer.compare(key, bound) < 0 && (last === undefined || Buffer.compare(key, last) > 0)) last = key;
    return last;
  }
}
