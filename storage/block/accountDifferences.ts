/**
 * The account changes of one block, packed: a block 0 with millions of accounts takes tens of bytes for each.
 *
 *   entry   address 20 | flags u8 | [nonce u64] | [balance 32] | [code length u32, code] | slots u32, (slot 32, value 32)*
 *
 * An entry never crosses from one chunk to the next. Chunks have at least CHUNK_BYTES. `positions` holds each entry's chunk
 * and offset.
 */

import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import type {AccountChange, AccountDifference, SlotDifference} from "./accountDifference.ts";

const CHUNK_BYTES = 1 << 20;
const WORD = 32;

const DELETED = 1;
const RESET = 2;
const HAS_NONCE = 4;
const HAS_BALANCE = 8;
const HAS_CODE = 16;

export class AccountDifferences {
  private readonly chunks: Buffer[] = [];
  private readonly positions: number[] = [];
  private used = CHUNK_BYTES;

  get count(): number {
    return this.positions.length;
  }

  /** @throws StoreError BLOCK_INVALID if a value is out of range */
  add({address, change}: AccountDifference): void {
    if (address.length !== 20)
      throw new StoreError("BLOCK_INVALID", `address of ${address.length} bytes, not 20`);
    const slots = change?.storage ?? [];
    const code = change?.code;
    const entry = this.allocate(20 + 1 + 8 + WORD + 4 + (code?.length ?? 0) + 4 + slots.length * 2 * WORD);
    let at = 20;
    entry.set(address, 0);
    let flags = change === undefined ? DELETED : 0;
    if (change?.reset === true) flags |= RESET;
    if (change?.nonce !== undefined) flags |= HAS_NONCE;
    if (change?.balance !== undefined) flags |= HAS_BALANCE;
    if (code !== undefined) flags |= HAS_CODE;
    entry[at++] = flags;
    if (change?.nonce !== undefined) {
      if (change.nonce < 0n || change.nonce >= 1n << 64n) throw outOfRange(address, "nonce", 64);
      entry.writeBigUInt64BE(change.nonce, at);
      at += 8;
    }
    if (change?.balance !== undefined) {
      if (change.balance < 0n || change.balance >= 1n << 256n) throw outOfRange(address, "balance", 256);
      entry.write(change.balance.toString(16).padStart(2 * WORD, "0"), at, "hex");
      at += WORD;
    }
    if (code !== undefined) {
      entry.writeUInt32BE(code.length, at);
      entry.set(code, at + 4);
      at += 4 + code.length;
    }
    entry.writeUInt32BE(slots.length, at);
    at += 4;
    for (const {slot, value} of slots) {
      if (slot.length !== WORD || value.length !== WORD)
        throw new StoreError(
          "BLOCK_INVALID",
          `account ${toHex(address)}: slots and values are 32 bytes each`,
        );
      entry.set(slot, at);
      entry.set(value, at + WORD);
      at += 2 * WORD;
    }
    this.used += at;
  }

  /** 20 bytes, a view. */
  addressAt(position: number): Uint8Array {
    return this.entryAt(position).subarray(0, 20);
  }

  at(position: number): AccountDifference {
    const entry = this.entryAt(position);
    const address = entry.subarray(0, 20);
    const flags = entry[20] ?? 0;
    if (flags & DELETED) return {address, change: undefined};
    let at = 21;
    const change: {-readonly [K in keyof AccountChange]: AccountChange[K]} = {reset: (flags & RESET) !== 0};
    if (flags & HAS_NONCE) {
      change.nonce = entry.readBigUInt64BE(at);
      at += 8;
    }
    if (flags & HAS_BALANCE) {
      change.balance = BigInt(`0x${entry.toString("hex", at, at + WORD)}`);
      at += WORD;
    }
    if (flags & HAS_CODE) {
      const length = entry.readUInt32BE(at);
      change.code = entry.subarray(at + 4, at + 4 + length);
      at += 4 + length;
    }
    const slotCount = entry.readUInt32BE(at);
    at += 4;
    const storage: SlotDifference[] = [];
    for (let i = 0; i < slotCount; i++, at += 2 * WORD)
      storage.push({slot: entry.subarray(at, at + WORD), value: entry.subarray(at + WORD, at + 2 * WORD)});
    change.storage = storage;
    return {address, change};
  }

  /** Reserves room for an entry of at most `bytes`. Its real end is known once it is written. */
  private allocate(bytes: number): Buffer {
    if (this.used + bytes > CHUNK_BYTES) {
      this.chunks.push(Buffer.allocUnsafe(Math.max(CHUNK_BYTES, bytes)));
      this.used = 0;
    }
    const chunk = this.chunks.length - 1;
    this.positions.push(chunk * CHUNK_BYTES + this.used);
    return (this.chunks[chunk] as Buffer).subarray(this.used);
  }

  private entryAt(position: number): Buffer {
    const at = this.positions[position];
    if (at === undefined) throw new RangeError(`position ${position} of ${this.positions.length}`);
    // Every entry starts within the first CHUNK_BYTES of its chunk. A longer chunk holds a single entry.
    return (this.chunks[Math.floor(at / CHUNK_BYTES)] as Buffer).subarray(at % CHUNK_BYTES);
  }
}

function outOfRange(address: Uint8Array, field: string, bits: number): StoreError {
  return new StoreError("BLOCK_INVALID", `account ${toHex(address)}: ${field} is not in 0 .. 2^${bits} - 1`);
}
