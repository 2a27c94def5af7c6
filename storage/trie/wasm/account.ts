/**
 * The account of a leaf, as a page has it, and as the trie has it.
 *
 *   stored   flags u8 | nonce | balance | [code hash 32] | [storage root 32 | its page u48]      numbers are RLP
 *   trie     [nonce, balance, storage root, code hash]                                          RLP
 */
import {copyWord, sameWord} from "./layout";
import {EMPTY_ROOT, endOf, isHash, LIST, writeHashReference} from "./rlp";

const HAS_CODE: u32 = 1;
const HAS_STORAGE: u32 = 2;
const HASH_BYTES: u32 = 32;
const NUMBER_BYTES: u32 = 6;
/** Two hashes alone are longer than 55 bytes. */
const LONG_LIST: u8 = <u8>(LIST + 56);

/** keccak256 of no bytes. */
const EMPTY_CODE: usize = memory.data<u64>([
  0x3c23f7860146d2c5, 0xc003c7dcb27d7e92, 0x3b2782ca53b600e5, 0x70a4855d04d8fa7b,
]);

/** Leaves are accounts, not slots. */
export let isAccounts: bool = false;

export function setAccounts(are: bool): void {
  isAccounts = are;
}

/** The length of the trie's form. */
export function accountBytes(stored: usize): u32 {
  return 2 + numbersBytes(stored) + 2 * (1 + HASH_BYTES);
}

/** Writes the trie's form. @returns the address after it */
export function writeAccount(to: usize, stored: usize): usize {
  const numbers = numbersBytes(stored);
  const flags: u32 = load<u8>(stored);
  store<u8>(to, LONG_LIST);
  store<u8>(to, numbers + 2 * (1 + HASH_BYTES), 1);
  memory.copy(to + 2, stored + 1, numbers);
  const code = stored + 1 + numbers;
  const storage = code + (flags & HAS_CODE ? HASH_BYTES : 0);
  const rootAt = to + 2 + numbers;
  writeHashReference(rootAt, flags & HAS_STORAGE ? storage : EMPTY_ROOT);
  writeHashReference(rootAt + 1 + HASH_BYTES, flags & HAS_CODE ? code : EMPTY_CODE);
  return rootAt + 2 * (1 + HASH_BYTES);
}

/** Writes the stored form of the trie's. @param page - of its storage trie. @returns the address after it; 0: no account */
export function storeAccount(to: usize, account: usize, bytes: u32, page: f64): usize {
  const end = account + bytes;
  if (bytes < 2 || load<u8>(account) !== LONG_LIST || endOf(account) !== end) return 0;
  const nonce = account + 2;
  const balance = endOf(nonce);
  const root = endOf(balance);
  const code = root + 1 + HASH_BYTES;
  if (load<u8>(nonce) > 0x88 || load<u8>(balance) > 0xa0 || code + 1 + HASH_BYTES !== end) return 0;
  if (!isHash(root) || !isHash(code)) return 0;
  const hasCode = !sameWord(code + 1, EMPTY_CODE);
  const hasStorage = !sameWord(root + 1, EMPTY_ROOT);
  store<u8>(to, (hasCode ? HAS_CODE : 0) | (hasStorage ? HAS_STORAGE : 0));
  memory.copy(to + 1, nonce, root - nonce);
  to += 1 + root - nonce;
  if (hasCode) {
    copyWord(to, code + 1);
    to += HASH_BYTES;
  }
  if (!hasStorage) return to;
  copyWord(to, root + 1);
  to += HASH_BYTES;
  for (let i: u32 = 0, rest = <u64>page; i < NUMBER_BYTES; i++, rest >>= 8)
    store<u8>(to + NUMBER_BYTES - 1 - i, <u8>rest);
  return to + NUMBER_BYTES;
}

/** Whether these are the bytes of a stored account, all that the functions above rely on. */
export function isStoredAccount(stored: usize, bytes: u32): bool {
  if (bytes < 3) return false;
  const flags: u32 = load<u8>(stored);
  if (flags > (HAS_CODE | HAS_STORAGE)) return false;
  for (let i = 0, at = stored + 1; i < 2; i++, at = endOf(at))
    if (load<u8>(at) > 0xa0 || endOf(at) > stored + bytes || at >= stored + bytes) return false;
  const rest = (flags & HAS_CODE ? HASH_BYTES : 0) + (flags & HAS_STORAGE ? HASH_BYTES + NUMBER_BYTES : 0);
  return 1 + numbersBytes(stored) + rest === bytes;
}

function numbersBytes(stored: usize): u32 {
  return endOf(endOf(stored + 1)) - stored - 1;
}
