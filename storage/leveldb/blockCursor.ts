/**
 * Walks through the entries of one block of a table, in order.
 *
 *   block   entry * | offset of a restart point u32 * | number of restart points u32          little-endian
 *   entry   bytes shared with the previous key | other bytes of the key | bytes of the value    varints
 *           | other bytes of the key | value
 *
 * At a restart point nothing is shared. In an index block every entry is a restart point, so a binary search works.
 */
import {countBelow} from "../bisect.ts";
import {count} from "../count.ts";
import {ByteReader} from "./byteReader.ts";
import {compareKeys, TAG_BYTES} from "./internalKey.ts";

const U32_BYTES = 4;
const EMPTY = Buffer.alloc(0);

/** Where a block lies, without its trailer. */
export interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

/** Its methods throw what `damage` makes if there is no valid entry. */
export class BlockCursor {
  /** The internal key of the current entry, where `next` or `seek` went. */
  key: Buffer = EMPTY;
  value: Buffer = EMPTY;
  private readonly restartsAt: number;
  private readonly restarts: number;
  private at = 0;

  /** @param damage - makes the error. A forged block may match its checksum and still not decode */
  constructor(
    private readonly bytes: Buffer,
    private readonly damage: (what: string) => Error,
  ) {
    this.restarts = bytes.length < U32_BYTES ? 0 : bytes.readUInt32LE(bytes.length - U32_BYTES);
    this.restartsAt = bytes.length - U32_BYTES * (this.restarts + 1);
    if (this.restarts === 0 || this.restartsAt < 0)
      throw damage(`a block with ${this.restarts} restart points`);
  }

  /** In an index or metaindex block: where the entry leads to. */
  handle(): BlockHandle {
    try {
      const fields = new ByteReader(this.value);
      return {offset: fields.varint(), size: fields.varint()};
    } catch (error) {
      throw this.damage((error as Error).message);
    }
  }

  next(): boolean {
    if (this.at >= this.restartsAt) return false;
    const shared = this.varint();
    const own = this.varint();
    const valueBytes = this.varint();
    const valueAt = this.at + own;
    if (shared > this.key.length || valueAt + valueBytes > this.restartsAt)
      throw this.damage("an entry that is larger than its block");
    if (shared + own < TAG_BYTES) throw this.damage(`a key of ${count(shared + own, "byte")}`);
    const rest = this.bytes.subarray(this.at, valueAt);
    this.key = shared === 0 ? rest : Buffer.concat([this.key.subarray(0, shared), rest]);
    this.at = valueAt + valueBytes;
    this.value = this.bytes.subarray(valueAt, this.at);
    return true;
  }

  /** Goes to the first entry whose user key is `userKey` or above. @returns false if there is none */
  seek(userKey: Buffer): boolean {
    // The first entry needs no comparison, and a block may have none.
    this.goTo(countBelow(this.restarts - 1, at => this.compareRestart(at + 1, userKey) < 0));
    while (this.next()) if (compareKeys(this.key, userKey) >= 0) return true;
    return false;
  }

  /** Compares the user key at a restart point with `userKey`, without copying it. */
  private compareRestart(restart: number, userKey: Buffer): number {
    this.goTo(restart);
    this.varint();
    const keyBytes = this.varint() - TAG_BYTES;
    this.varint();
    const end = this.at + keyBytes;
    if (keyBytes < 0 || end > this.restartsAt)
      throw this.damage("a key that is invalid, or larger than its block");
    return -userKey.compare(this.bytes, this.at, end);
  }

  private goTo(restart: number): void {
    this.at = this.bytes.readUInt32LE(this.restartsAt + restart * U32_BYTES);
    this.key = EMPTY;
  }

  /** Below 2^32. Not with a ByteReader, because each entry has three. */
  private varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 28; scale *= 0x80) {
      const byte = this.bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw this.damage("an entry with a length that is too large");
  }
}
