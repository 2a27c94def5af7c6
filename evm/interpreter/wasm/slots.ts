/** Storage slots: their current values, and those before the transaction and the block; transient slots (EIP-1153). */
import * as Account from "./accounts";
import {hasBaseStorage, readsUnpaid, transaction} from "./accounts";
import {hashWord} from "./hashing";
import {allocate} from "./heap";
import {hostReadSlot, IO_OUT, IO_SLOT} from "./host";
import {IO} from "./layout";
import {COLD_SLOT_GAS} from "./params";
import {growTable, HASH, link, NEXT} from "./table";
import {copyWord, loadBytes, sameWord, setWord, storeAddress, storeBytes} from "./words";

/** The account's Account.STORAGE when the slot was read. */
export const SLOT_STORAGE: usize = 8;
/** Number of the transaction in which the slot is warm or, if it is transient, not 0. */
export const SLOT_WARM: usize = 12;
export const KEY: usize = 16;
export const VALUE: usize = 48;
/** The value before the transaction ORIGINAL_OF. */
export const ORIGINAL: usize = 80;
export const BASE_VALUE: usize = 112;
export const ORIGINAL_OF: usize = 144;
export const SLOT_WRITTEN: usize = 148;
export const NEXT_SLOT_WRITTEN: usize = 152;
export const SLOT_ACCOUNT: usize = 156;
const ENTRY_BYTES: usize = 160;

const FIRST_BUCKETS: usize = 4096;
const TRANSIENT: u32 = 0x80000000;

let buckets: usize = 0;
let mask: u32 = 0;
let count: u32 = 0;
/** First of the written slots. */
export let writtenSlots: usize = 0;

export function resetSlots(): void {
  buckets = allocate(4 * FIRST_BUCKETS);
  mask = <u32>FIRST_BUCKETS - 1;
  count = 0;
  writtenSlots = 0;
}

function lookUp(storage: u32, key: usize, hash: u32): usize {
  let entry: usize = load<u32>(buckets + 4 * (hash & mask));
  while (entry != 0) {
    if (load<u32>(entry, SLOT_STORAGE) == storage && sameWord(entry + KEY, key)) return entry;
    entry = load<u32>(entry, NEXT);
  }
  return 0;
}

function hashOf(storage: u32, key: usize): u32 {
  return hashWord(key, (<u64>storage) << 32);
}

/** A slot that is not cached is cold, and read from the host. @returns 0 if `gas` does not pay for that, unless `readsUnpaid` */
export function slotAt(account: usize, key: usize, gas: i64): usize {
  const storage = load<u32>(account, Account.STORAGE);
  const hash = hashOf(storage, key);
  const known = lookUp(storage, key, hash);
  if (known != 0) return known;
  if (gas < COLD_SLOT_GAS && !readsUnpaid) return 0;
  const isRead = hasBaseStorage(account);
  if (isRead) {
    storeAddress(IO, account + Account.ADDRESS);
    storeBytes(IO_SLOT, key);
    // Insert after the read: if the host throws, the slot must be read again.
    hostReadSlot();
  }
  const entry = insert(storage, key, hash, account);
  if (isRead) {
    loadBytes(entry + VALUE, IO_OUT);
    copyWord(entry + BASE_VALUE, entry + VALUE);
  }
  return entry;
}

/** A transient slot. @returns 0 if it was never written and `makes` is false */
export function transientAt(account: usize, key: usize, makes: bool): usize {
  const storage = load<u32>(account, Account.IDENTITY) | TRANSIENT;
  const hash = hashOf(storage, key);
  const known = lookUp(storage, key, hash);
  if (known == 0) return makes ? insert(storage, key, hash, account) : 0;
  if (load<u32>(known, SLOT_WARM) != transaction) setWord(known + VALUE, 0);
  return known;
}

function insert(storage: u32, key: usize, hash: u32, account: usize): usize {
  if (count > mask) {
    buckets = growTable(buckets, mask);
    mask = (mask << 2) | 3;
  }
  const entry = allocate(ENTRY_BYTES);
  store<u32>(entry, hash, HASH);
  store<u32>(entry, storage, SLOT_STORAGE);
  store<u32>(entry, <u32>account, SLOT_ACCOUNT);
  copyWord(entry + KEY, key);
  link(buckets, mask, entry);
  count++;
  return entry;
}

/** The value before the transaction. */
export function keepOriginal(entry: usize): void {
  if (load<u32>(entry, ORIGINAL_OF) == transaction) return;
  store<u32>(entry, transaction, ORIGINAL_OF);
  copyWord(entry + ORIGINAL, entry + VALUE);
}

export function noteSlotWritten(entry: usize): void {
  if (load<u32>(entry, SLOT_WRITTEN) != 0) return;
  store<u32>(entry, 1, SLOT_WRITTEN);
  store<u32>(entry, <u32>writtenSlots, NEXT_SLOT_WRITTEN);
  writtenSlots = entry;
}

/** True unless the account's storage was cleared after the slot was read. */
export function isCurrent(entry: usize): bool {
  const account: usize = load<u32>(entry, SLOT_ACCOUNT);
  return (
    load<u32>(account, Account.EXISTS) != 0 &&
    load<u32>(account, Account.STORAGE) == load<u32>(entry, SLOT_STORAGE)
  );
}

/** Call it before `sealWritten` of accounts.ts. */
export function sealWrittenSlots(): void {
  let entry = writtenSlots;
  while (entry != 0) {
    copyWord(entry + BASE_VALUE, entry + VALUE);
    store<u32>(entry, 0, SLOT_WRITTEN);
    entry = load<u32>(entry, NEXT_SLOT_WRITTEN);
  }
  writtenSlots = 0;
}
