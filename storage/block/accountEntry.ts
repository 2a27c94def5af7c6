/**
 * One account change, packed (accountDifferences.ts keeps a block's changes in this form).
 *
 *   entry   address 20 | flags u8 | [before] | [nonce u64] | [balance 32] | [code length u32, code] | slots u32, slot*
 *   before  flags u8 | [nonce u64] | [balance 32] | [keccakCodeHash 32]
 *   slot    slot 32 | value 32 | if any slot of the entry has one of them: flags u8, before 32
 *
 * A deletion ends after `before`. The lowest two bits of an entry's flags are its kind.
 */

import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import type {AccountBefore, AccountChange, AccountDifference, SlotDifference} from "./accountDifference.ts";

const ADDRESS_BYTES = 20;
const WORD = 32;
/** Everything of an entry but its code and its slots. */
const FIXED_BYTES = ADDRESS_BYTES + 1 + (1 + 8 + WORD + WORD) + 8 + WORD + 4 + 4;

const KIND = 3;
const DELETED = 1;
const RESET = 2;
const RESET_KEEPING_CODE = 3;
const HAS_NONCE = 4;
const HAS_BALANCE = 8;
const HAS_CODE = 16;
const HAS_BEFORE = 32;
const ONLY_READ = 64;
const LONG_SLOTS = 128;

const BEFORE_PRESENT = 1;
const BEFORE_NONCE = 2;
const BEFORE_BALANCE = 4;
const BEFORE_CODE = 8;

const SLOT_BEFORE = 1;
const SLOT_RESET = 2;
const SLOT_BYTES = 2 * WORD;
const LONG_SLOT_BYTES = 3 * WORD + 1;

/** An upper bound. */
export function maxEntryBytes({change}: AccountDifference): number {
  return FIXED_BYTES + (change?.code?.length ?? 0) + (change?.storage?.length ?? 0) * LONG_SLOT_BYTES;
}

/** @returns the bytes written. @throws StoreError BLOCK_INVALID if a value is out of range */
export function writeEntry(entry: Buffer, {address, change, before, onlyRead}: AccountDifference): number {
  if (address.length !== ADDRESS_BYTES)
    throw new StoreError("BLOCK_INVALID", `address: expected ${ADDRESS_BYTES} bytes, got ${address.length}`);
  const hasLongSlots =
    change?.storage?.some(slot => slot.before !== undefined || slot.reset === true) === true;
  let flags = kindOf(change);
  if (before !== undefined) flags |= HAS_BEFORE;
  if (onlyRead === true) flags |= ONLY_READ;
  if (hasLongSlots) flags |= LONG_SLOTS;
  if (change?.nonce !== undefined) flags |= HAS_NONCE;
  if (change?.balance !== undefined) flags |= HAS_BALANCE;
  if (change?.code !== undefined) flags |= HAS_CODE;
  entry.set(address, 0);
  entry[ADDRESS_BYTES] = flags;
  let at = ADDRESS_BYTES + 1;
  if (before !== undefined) at = writeBefore(entry, at, before, address);
  if (change !== undefined) at = writeChange(entry, at, change, address, hasLongSlots);
  return at;
}

/** The bytes of the difference are views of `entry`. */
export function readEntry(entry: Buffer): AccountDifference {
  const flags = entry[ADDRESS_BYTES] ?? 0;
  let at = ADDRESS_BYTES + 1;
  const difference: {-readonly [K in keyof AccountDifference]: AccountDifference[K]} = {
    address: addressOfEntry(entry),
    change: undefined,
  };
  if (flags & HAS_BEFORE) [difference.before, at] = readBefore(entry, at);
  if (flags & ONLY_READ) difference.onlyRead = true;
  if ((flags & KIND) !== DELETED) difference.change = readChange(entry, at, flags);
  return difference;
}

/** 20 bytes, a view. */
export function addressOfEntry(entry: Buffer): Buffer {
  return entry.subarray(0, ADDRESS_BYTES);
}

function kindOf(change: AccountChange | undefined): number {
  if (change === undefined) return DELETED;
  if (change.reset !== true) return 0;
  return change.keepsCode === true ? RESET_KEEPING_CODE : RESET;
}

function writeChange(
  entry: Buffer,
  start: number,
  {nonce, balance, code, storage = []}: AccountChange,
  address: Uint8Array,
  hasLongSlots: boolean,
): number {
  let at = start;
  if (nonce !== undefined) at = writeNonce(entry, at, nonce, address);
  if (balance !== undefined) at = writeBalance(entry, at, balance, address);
  if (code !== undefined) {
    entry.writeUInt32BE(code.length, at);
    entry.set(code, at + 4);
    at += 4 + code.length;
  }
  entry.writeUInt32BE(storage.length, at);
  at += 4;
  for (const {slot, value, before, reset} of storage) {
    if (slot.length !== WORD || value.length !== WORD || (before !== undefined && before.length !== WORD))
      throw new StoreError("BLOCK_INVALID", `account ${toHex(address)}: slots and values are 32 bytes each`);
    entry.set(slot, at);
    entry.set(value, at + WORD);
    at += SLOT_BYTES;
    if (!hasLongSlots) continue;
    entry[at] = (before === undefined ? 0 : SLOT_BEFORE) | (reset === true ? SLOT_RESET : 0);
    if (before !== undefined) entry.set(before, at + 1);
    at += LONG_SLOT_BYTES - SLOT_BYTES;
  }
  return at;
}

function readChange(entry: Buffer, start: number, flags: number): AccountChange {
  let at = start;
  const kind = flags & KIND;
  const change: {-readonly [K in keyof AccountChange]: AccountChange[K]} = {reset: kind !== 0};
  if (kind === RESET_KEEPING_CODE) change.keepsCode = true;
  if (flags & HAS_NONCE) {
    change.nonce = entry.readBigUInt64BE(at);
    at += 8;
  }
  if (flags & HAS_BALANCE) {
    change.balance = readBalance(entry, at);
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
  const hasLongSlots = (flags & LONG_SLOTS) !== 0;
  for (let i = 0; i < slotCount; i++) {
    const slot = entry.subarray(at, at + WORD);
    const value = entry.subarray(at + WORD, at + SLOT_BYTES);
    at += SLOT_BYTES;
    if (hasLongSlots) {
      const slotFlags = entry[at] ?? 0;
      storage.push({
        slot,
        value,
        ...(slotFlags & SLOT_BEFORE && {before: entry.subarray(at + 1, at + 1 + WORD)}),
        ...(slotFlags & SLOT_RESET && {reset: true}),
      });
      at += LONG_SLOT_BYTES - SLOT_BYTES;
    } else storage.push({slot, value});
  }
  change.storage = storage;
  return change;
}

function writeBefore(
  entry: Buffer,
  start: number,
  {present, nonce, balance, keccakCodeHash}: AccountBefore,
  address: Uint8Array,
): number {
  let flags = present ? BEFORE_PRESENT : 0;
  let at = start + 1;
  if (nonce !== undefined) {
    flags |= BEFORE_NONCE;
    at = writeNonce(entry, at, nonce, address);
  }
  if (balance !== undefined) {
    flags |= BEFORE_BALANCE;
    at = writeBalance(entry, at, balance, address);
  }
  if (keccakCodeHash !== undefined) {
    if (keccakCodeHash.length !== WORD)
      throw new StoreError("BLOCK_INVALID", `account ${toHex(address)}: a code hash is 32 bytes`);
    flags |= BEFORE_CODE;
    entry.set(keccakCodeHash, at);
    at += WORD;
  }
  entry[start] = flags;
  return at;
}

function readBefore(entry: Buffer, start: number): [AccountBefore, number] {
  const flags = entry[start] ?? 0;
  let at = start + 1;
  const before: {-readonly [K in keyof AccountBefore]: AccountBefore[K]} = {
    present: (flags & BEFORE_PRESENT) !== 0,
  };
  if (flags & BEFORE_NONCE) {
    before.nonce = entry.readBigUInt64BE(at);
    at += 8;
  }
  if (flags & BEFORE_BALANCE) {
    before.balance = readBalance(entry, at);
    at += WORD;
  }
  if (flags & BEFORE_CODE) {
    before.keccakCodeHash = entry.subarray(at, at + WORD);
    at += WORD;
  }
  return [before, at];
}

function writeNonce(entry: Buffer, at: number, nonce: bigint, address: Uint8Array): number {
  if (nonce < 0n || nonce >= 1n << 64n) throw outOfRange(address, "nonce", 64);
  return entry.writeBigUInt64BE(nonce, at);
}

function writeBalance(entry: Buffer, at: number, balance: bigint, address: Uint8Array): number {
  if (balance < 0n || balance >= 1n << 256n) throw outOfRange(address, "balance", 256);
  return at + entry.write(balance.toString(16).padStart(2 * WORD, "0"), at, "hex");
}

function readBalance(entry: Buffer, at: number): bigint {
  return BigInt(`0x${entry.toString("hex", at, at + WORD)}`);
}

function outOfRange(address: Uint8Array, field: string, bits: number): StoreError {
  return new StoreError("BLOCK_INVALID", `account ${toHex(address)}: ${field} is not in 0 .. 2^${bits} - 1`);
}
