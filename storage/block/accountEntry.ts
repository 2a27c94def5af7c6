/**
 * One account change, packed (accountDifferences.ts keeps a block's changes in this form).
 *
 *   entry   address 20 | flags u16 | before | change       fields without their flag are left out; a deletion has no change
 *   before  nonce u64 | balance 32 | keccakCodeHash 32
 *   change  nonce u64 | balance 32 | code length u32, code | slots u32, slot*
 *   slot    slot 32 | value 32 | if any slot of the entry has one of them: flags u8, before 32
 */
import {StoreError} from "../errors.ts";
import {toHex} from "../hex.ts";
import {BodyReader, bigEndian, encodeNumber} from "../record/recordBody.ts";
import type {AccountBefore, AccountChange, AccountDifference, SlotDifference} from "./accountDifference.ts";

const ADDRESS_BYTES = 20;
const WORD = 32;
const NO_WORD = Buffer.alloc(WORD);

const Flag = {
  DELETED: 1,
  RESET: 2,
  KEEPS_CODE: 4,
  ONLY_READ: 8,
  LONG_SLOTS: 16,
  NONCE: 32,
  BALANCE: 64,
  CODE: 128,
  BEFORE: 256,
  WAS_THERE: 512,
  BEFORE_NONCE: 1024,
  BEFORE_BALANCE: 2048,
  BEFORE_CODE: 4096,
} as const;
const SLOT_BEFORE = 1;
const SLOT_RESET = 2;

type Mutable<T> = {-readonly [K in keyof T]: T[K]};

/** @throws StoreError BLOCK_INVALID if a value is out of range */
export function encodeEntry({address, change, before, onlyRead}: AccountDifference): Buffer {
  if (address.length !== ADDRESS_BYTES)
    throw new StoreError("BLOCK_INVALID", `address: expected ${ADDRESS_BYTES} bytes, got ${address.length}`);
  const parts: Uint8Array[] = [];
  let flags = onlyRead === true ? Flag.ONLY_READ : 0;
  const put = (flag: number, field: Uint8Array | undefined): void => {
    if (field === undefined) return;
    flags |= flag;
    parts.push(field);
  };
  if (before !== undefined) {
    flags |= Flag.BEFORE | (before.present ? Flag.WAS_THERE : 0);
    if (before.keccakCodeHash !== undefined && before.keccakCodeHash.length !== WORD)
      throw invalid(address, `expected a code hash of ${WORD} bytes, got ${before.keccakCodeHash.length}`);
    put(Flag.BEFORE_NONCE, encodeField(before.nonce, 8, address, "nonce"));
    put(Flag.BEFORE_BALANCE, encodeField(before.balance, WORD, address, "balance"));
    put(Flag.BEFORE_CODE, before.keccakCodeHash);
  }
  if (change === undefined) flags |= Flag.DELETED;
  else {
    const {nonce, balance, code, storage = []} = change;
    if (change.reset === true) flags |= Flag.RESET | (change.keepsCode === true ? Flag.KEEPS_CODE : 0);
    const isLong = storage.some(slot => slot.before !== undefined || slot.reset === true);
    if (isLong) flags |= Flag.LONG_SLOTS;
    put(Flag.NONCE, encodeField(nonce, 8, address, "nonce"));
    put(Flag.BALANCE, encodeField(balance, WORD, address, "balance"));
    if (code !== undefined) put(Flag.CODE, encodeNumber(code.length, 4));
    put(0, code);
    put(0, encodeNumber(storage.length, 4));
    for (const slot of storage) putSlot(parts, slot, isLong, address);
  }
  return Buffer.concat([address, encodeNumber(flags, 2), ...parts]);
}

/** The bytes of the difference are views of `entry`. */
export function decodeEntry(entry: Buffer): AccountDifference {
  const reader = new BodyReader("an account's changes", entry);
  const difference: Mutable<AccountDifference> = {address: reader.bytes(ADDRESS_BYTES), change: undefined};
  const flags = reader.number(2);
  if (flags & Flag.BEFORE) {
    const before: Mutable<AccountBefore> = {present: (flags & Flag.WAS_THERE) !== 0};
    if (flags & Flag.BEFORE_NONCE) before.nonce = reader.bigint(8);
    if (flags & Flag.BEFORE_BALANCE) before.balance = reader.bigint(WORD);
    if (flags & Flag.BEFORE_CODE) before.keccakCodeHash = reader.bytes(WORD);
    difference.before = before;
  }
  if (flags & Flag.ONLY_READ) difference.onlyRead = true;
  if (flags & Flag.DELETED) return difference;
  const change: Mutable<AccountChange> = {reset: (flags & Flag.RESET) !== 0};
  if (flags & Flag.KEEPS_CODE) change.keepsCode = true;
  if (flags & Flag.NONCE) change.nonce = reader.bigint(8);
  if (flags & Flag.BALANCE) change.balance = reader.bigint(WORD);
  if (flags & Flag.CODE) change.code = reader.bytes(reader.number(4));
  const count = reader.number(4);
  const isLong = (flags & Flag.LONG_SLOTS) !== 0;
  change.storage = Array.from({length: count}, () => readSlot(reader, isLong));
  difference.change = change;
  return difference;
}

/** 20 bytes, a view. */
export function addressOfEntry(entry: Buffer): Buffer {
  return entry.subarray(0, ADDRESS_BYTES);
}

function putSlot(
  parts: Uint8Array[],
  {slot, value, before, reset}: SlotDifference,
  isLong: boolean,
  address: Uint8Array,
): void {
  if (slot.length !== WORD || value.length !== WORD || (before !== undefined && before.length !== WORD))
    throw invalid(address, "slots and values are 32 bytes each");
  parts.push(slot, value);
  if (!isLong) return;
  const flags = (before === undefined ? 0 : SLOT_BEFORE) | (reset === true ? SLOT_RESET : 0);
  parts.push(Buffer.of(flags), before ?? NO_WORD);
}

function readSlot(reader: BodyReader, isLong: boolean): SlotDifference {
  const slot = reader.bytes(WORD);
  const value = reader.bytes(WORD);
  if (!isLong) return {slot, value};
  const flags = reader.number(1);
  const before = reader.bytes(WORD);
  return {slot, value, ...(flags & SLOT_BEFORE && {before}), ...(flags & SLOT_RESET && {reset: true})};
}

function encodeField(
  value: bigint | undefined,
  bytes: number,
  address: Uint8Array,
  field: string,
): Buffer | undefined {
  if (value === undefined) return undefined;
  if (value < 0n || value >= 1n << BigInt(8 * bytes))
    throw invalid(address, `${field} is not in 0 .. 2^${8 * bytes} - 1`);
  return bigEndian(value, bytes);
}

function invalid(address: Uint8Array, what: string): StoreError {
  return new StoreError("BLOCK_INVALID", `account ${toHex(address)}: ${what}`);
}
