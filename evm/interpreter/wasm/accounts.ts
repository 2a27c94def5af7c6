/**
 * The cache of accounts: their current values, and those before the block. Flags that last for one transaction (warm,
 * created, ...) store its number, so that a new transaction does not have to clear them.
 */

import {codeOf, EMPTY_HASH} from "./codes";
import {hashKey} from "./hashing";
import {allocate} from "./heap";
import {hostReadAccount, IO_OUT} from "./host";
import {BLOCK, IO} from "./layout";
import {COLD_ACCOUNT_GAS, HAS_P256, LAST_PRECOMPILE, param} from "./params";
import {growTable, HASH, link, NEXT} from "./table";
import {copyWord, isZero, sameWord, storeAddress} from "./words";

export const ADDRESS: usize = 8;
export const EXISTS: usize = 40;
/** Generation of the storage: a new number whenever the storage is cleared. Part of the key of slots. */
export const STORAGE: usize = 44;
/** 1: the account may have slots that are not 0. */
export const HAS_STORAGE: usize = 48;
/** Number of the transaction in which the account is warm. Here to be in the cache line of the address. */
export const WARM: usize = 52;
export const NONCE: usize = 56;
export const BALANCE: usize = 64;
/** 32 bytes, big-endian. */
export const CODE_HASH: usize = 96;
/** The fields from EXISTS to here as they were before the block follow: each so many bytes behind its own. */
export const BASE: usize = 88;
/** Number of the transaction in which the account was created, was touched, is destroyed. */
export const CREATED: usize = 216;
export const TOUCHED: usize = 220;
export const DESTROYED: usize = 224;
/** Unique number, the key of transient storage. */
export const IDENTITY: usize = 228;
/** 1: the account is in the list of written accounts. */
export const WRITTEN: usize = 232;
export const NEXT_WRITTEN: usize = 236;
/** Links the accounts that endTransaction examines. */
export const NEXT_ENDED: usize = 240;
export const IN_ENDED: usize = 244;
/** Entry of the code in codes.ts; 0: not looked up yet. */
export const CODE: usize = 248;
const ENTRY_BYTES: usize = 252;

const FIRST_BUCKETS: usize = 1024;
const MAX_STORAGE: u32 = 0x7fffffff;

let buckets: usize = 0;
let mask: u32 = 0;
let count: u32 = 0;
let lastStorage: u32 = 0;
/** What a run would read with more gas is read too, because other EVMs read before they charge. */
export let readsUnpaid: bool = false;
/** First of the written accounts. */
export let written: usize = 0;
/** First of the accounts that endTransaction examines. */
export let ended: usize = 0;
/** Number of the current transaction. Never 0. */
export let transaction: u32 = 1;

export function resetAccounts(): void {
  buckets = allocate(4 * FIRST_BUCKETS);
  mask = <u32>FIRST_BUCKETS - 1;
  count = 0;
  lastStorage = 0;
  written = 0;
  ended = 0;
}

/** Number of the transaction in which the coinbase is warm without having been read. */
let coinbaseWarm: u32 = 0;

/** EIP-3651. Reads nothing: the account of the coinbase is rarely used. */
export function warmCoinbase(): void {
  const known = find(load<u64>(BLOCK), load<u64>(BLOCK, 8), load<u64>(BLOCK, 16));
  if (known != 0) store<u32>(known, transaction, WARM);
  else coinbaseWarm = transaction;
}

function isCoinbaseWarm(a: u64, b: u64, c: u64): bool {
  if (coinbaseWarm != transaction || a != load<u64>(BLOCK)) return false;
  return b == load<u64>(BLOCK, 8) && c == load<u64>(BLOCK, 16);
}

export function setReadsUnpaid(reads: bool): void {
  readsUnpaid = reads;
}

export function nextTransaction(): void {
  transaction++;
  ended = 0;
}

export function newStorage(): u32 {
  return ++lastStorage & MAX_STORAGE;
}

/** The account whose address is in the lower 20 bytes of a word. Read from the host the first time. */
export function accountAt(word: usize): usize {
  return accountFor(word, i64.MAX_VALUE);
}

/**
 * As accountAt; 0 if `gas` does not pay a cold access, unless `readsUnpaid`. What is not cached is cold, except
 * precompiles and perhaps the coinbase.
 */
export function accountFor(word: usize, gas: i64): usize {
  const a = load<u64>(word);
  const b = load<u64>(word, 8);
  const c = load<u64>(word, 16) & 0xffffffff;
  const known = find(a, b, c);
  if (known != 0) return known;
  const isWarm = isCoinbaseWarm(a, b, c);
  if (gas < COLD_ACCOUNT_GAS && precompileAt(word) == 0 && !isWarm && !readsUnpaid) return 0;
  const entry = insert(a, b, c, hashKey(a, b, c, 0));
  if (isWarm) store<u32>(entry, transaction, WARM);
  return entry;
}

/** @returns 0 if the account is not cached */
function find(a: u64, b: u64, c: u64): usize {
  let entry: usize = load<u32>(buckets + 4 * (hashKey(a, b, c, 0) & mask));
  while (entry != 0) {
    if (
      load<u64>(entry, ADDRESS) == a &&
      load<u64>(entry, ADDRESS + 8) == b &&
      load<u64>(entry, ADDRESS + 16) == c
    )
      return entry;
    entry = load<u32>(entry, NEXT);
  }
  return 0;
}

function insert(a: u64, b: u64, c: u64, hash: u32): usize {
  if (count > mask) {
    buckets = growTable(buckets, mask);
    mask = (mask << 2) | 3;
  }
  const entry = allocate(ENTRY_BYTES);
  store<u64>(entry, a, ADDRESS);
  store<u64>(entry, b, ADDRESS + 8);
  store<u64>(entry, c, ADDRESS + 16);
  storeAddress(IO, entry + ADDRESS);
  hostReadAccount();
  store<u32>(entry, hash, HASH);
  const storage = newStorage();
  store<u32>(entry, storage, STORAGE);
  store<u32>(entry, newStorage(), IDENTITY);
  store<u32>(entry, load<u32>(IO_OUT), EXISTS);
  store<u32>(entry, load<u32>(IO_OUT, 4), HAS_STORAGE);
  store<u64>(entry, load<u64>(IO_OUT, 8), NONCE);
  copyWord(entry + BALANCE, IO_OUT + 16);
  copyWord(entry + CODE_HASH, IO_OUT + 48);
  makeBase(entry);
  link(buckets, mask, entry);
  count++;
  return entry;
}

/** Makes the current values those before the block. */
export function makeBase(entry: usize): void {
  memory.copy(entry + EXISTS + BASE, entry + EXISTS, BASE);
}

export function noteWritten(entry: usize): void {
  if (load<u32>(entry, WRITTEN) != 0) return;
  store<u32>(entry, 1, WRITTEN);
  store<u32>(entry, <u32>written, NEXT_WRITTEN);
  written = entry;
}

/** Empties the list of written accounts, whose current values become those before the block. */
export function sealWritten(): void {
  let entry = written;
  while (entry != 0) {
    makeBase(entry);
    store<u32>(entry, 0, WRITTEN);
    entry = load<u32>(entry, NEXT_WRITTEN);
  }
  written = 0;
}

/** Adds the account to those that endTransaction examines. */
export function noteEnded(entry: usize): void {
  if (load<u32>(entry, IN_ENDED) == transaction) return;
  store<u32>(entry, transaction, IN_ENDED);
  store<u32>(entry, <u32>ended, NEXT_ENDED);
  ended = entry;
}

/** True if the storage was not cleared in this block, so that the host has its slots. */
export function hasBaseStorage(entry: usize): bool {
  return (
    load<u32>(entry, STORAGE) == load<u32>(entry, BASE + STORAGE) && load<u32>(entry, BASE + HAS_STORAGE) != 0
  );
}

/** EIP-161: nonce 0, balance 0 and no code. An account that does not exist is empty. */
export function isEmpty(entry: usize): bool {
  return load<u64>(entry, NONCE) == 0 && isZero(entry + BALANCE) && hasNoCode(entry);
}

export function hasNoCode(entry: usize): bool {
  return sameWord(entry + CODE_HASH, EMPTY_HASH);
}

/** The entry of the account's code (codes.ts). */
export function codeEntry(entry: usize): usize {
  const known: usize = load<u32>(entry, CODE);
  if (known != 0) return known;
  const code = codeOf(entry + CODE_HASH);
  store<u32>(entry, <u32>code, CODE);
  return code;
}

/** The number of the precompile whose address is in the lower 20 bytes of a word; 0: not a precompile. */
export function precompileAt(word: usize): u32 {
  if ((load<u64>(word, 8) | (load<u64>(word, 16) & 0xffffffff)) != 0) return 0;
  const low = load<u64>(word);
  if (low - 1 < param(LAST_PRECOMPILE)) return <u32>low;
  return low == 0x100 && param(HAS_P256) != 0 ? 0x100 : 0;
}
