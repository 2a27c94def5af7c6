/**
 * The account changes of one block, packed (accountEntry.ts): tens of bytes each, for a block 0 with millions of
 * accounts. An entry never crosses chunks, which double up to CHUNK_BYTES; only one with a single entry is larger.
 */

import type {AccountDifference} from "./accountDifference.ts";
import {addressOfEntry, decodeEntry, encodeEntry} from "./accountEntry.ts";

const FIRST_CHUNK_BYTES = 1 << 13;
const CHUNK_BYTES = 1 << 20;

export class AccountDifferences {
  private readonly chunks: Buffer[] = [];
  private readonly positions: number[] = [];
  private used = 0;

  get count(): number {
    return this.positions.length;
  }

  get bytes(): number {
    return this.chunks.reduce((bytes, chunk) => bytes + chunk.length, 0);
  }

  /** @returns bytes of the entry. @throws StoreError BLOCK_INVALID if a value is out of range */
  add(difference: AccountDifference): number {
    const entry = encodeEntry(difference);
    const last = this.chunks.at(-1)?.length ?? 0;
    if (this.used + entry.length > Math.min(last, CHUNK_BYTES)) {
      const next = Math.min(CHUNK_BYTES, Math.max(FIRST_CHUNK_BYTES, 2 * last));
      this.chunks.push(Buffer.allocUnsafe(Math.max(next, entry.length)));
      this.used = 0;
    }
    const chunk = this.chunks.length - 1;
    this.positions.push(chunk * CHUNK_BYTES + this.used);
    (this.chunks[chunk] as Uint8Array).set(entry, this.used);
    this.used += entry.length;
    return entry.length;
  }

  /** 20 bytes, a view. */
  addressAt(position: number): Uint8Array {
    return addressOfEntry(this.entryAt(position));
  }

  at(position: number): AccountDifference {
    return decodeEntry(this.entryAt(position));
  }

  private entryAt(position: number): Buffer {
    const at = this.positions[position];
    if (at === undefined) throw new RangeError(`position ${position} of ${this.positions.length}`);
    // Every entry starts within the first CHUNK_BYTES of its chunk.
    return (this.chunks[Math.floor(at / CHUNK_BYTES)] as Buffer).subarray(at % CHUNK_BYTES);
  }
}
