/**
 * The stored form of an account in a page of the state trie, and of a slot's value.
 *
 *   account   flags u8 | nonce | balance | [code hash 32] | [storage root 32 | its page u48]      numbers are RLP
 *   slot      the value without leading zeros                                                    RLP, as in the trie
 *
 *   flags     1: it has code, 2: it has slots. wasm/account.ts makes the trie's own form from this one.
 */
import {StoreError} from "../errors.ts";
import {KECCAK_EMPTY} from "../hash/keccak.ts";
import {isSame, toHex} from "../hex.ts";
import {NUMBER_BYTES} from "../record/layout.ts";
import {readBigEndian} from "../rlp/rlpReader.ts";
import {encodeNumber} from "../rlp/rlpWriter.ts";
import {EMPTY_ROOT, EMPTY_TRIE, type TrieRoot} from "./trie.ts";

export interface TrieAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly storage: TrieRoot;
  /** 32 bytes, keccak256. */
  readonly codeHash: Uint8Array;
}

const HAS_CODE = 1;
const HAS_STORAGE = 2;
const WORD_BYTES = 32;
const STRING = 0x80;

const scratch = Buffer.alloc(144);

export function encodeTrieAccount({
  nonce,
  balance,
  storage,
  codeHash,
}: {readonly [Field in keyof TrieAccount]: TrieAccount[Field] | StoredTrieAccount[Field]}): Uint8Array {
  const hasCode = codeHash !== KECCAK_EMPTY && Buffer.compare(codeHash, KECCAK_EMPTY) !== 0;
  scratch[0] = (hasCode ? HAS_CODE : 0) | (isSame(storage.root, EMPTY_ROOT) ? 0 : HAS_STORAGE);
  let at = writeNumber(1, nonce);
  at = writeNumber(at, balance);
  if (hasCode) {
    scratch.set(codeHash, at);
    at += WORD_BYTES;
  }
  if (!isSame(storage.root, EMPTY_ROOT)) {
    scratch.set(storage.root, at);
    at = scratch.writeUIntBE(storage.page, at + WORD_BYTES, NUMBER_BYTES);
  }
  return new Uint8Array(scratch.subarray(0, at));
}

/** As a TrieAccount, with numbers as bytes: big-endian, without leading zeros. */
export interface StoredTrieAccount extends Pick<TrieAccount, "storage" | "codeHash"> {
  readonly nonce: Uint8Array;
  readonly balance: Uint8Array;
}

/** @throws StoreError RECORD_DAMAGED if it is not an account */
export function decodeTrieAccount(bytes: Uint8Array): TrieAccount {
  const {nonce, balance, ...hashes} = readTrieAccount(bytes);
  return {nonce: readBigEndian(nonce), balance: readBigEndian(balance), ...hashes};
}

/** @returns all bytes copied. @throws StoreError RECORD_DAMAGED if it is not an account */
export function readTrieAccount(bytes: Uint8Array): StoredTrieAccount {
  const [flags = 0] = bytes;
  const balanceAt = endOfNumber(bytes, 1);
  const codeAt = endOfNumber(bytes, balanceAt);
  const storageAt = codeAt + (flags & HAS_CODE ? WORD_BYTES : 0);
  const end = storageAt + (flags & HAS_STORAGE ? WORD_BYTES + NUMBER_BYTES : 0);
  if (end !== bytes.length || flags > (HAS_CODE | HAS_STORAGE))
    throw new StoreError("RECORD_DAMAGED", `the state trie: expected an account, got ${toHex(bytes)}`);
  return {
    nonce: readNumber(bytes, 1, balanceAt),
    balance: readNumber(bytes, balanceAt, codeAt),
    codeHash: flags & HAS_CODE ? bytes.slice(codeAt, storageAt) : KECCAK_EMPTY,
    storage: flags & HAS_STORAGE ? readStorage(bytes, storageAt) : EMPTY_TRIE,
  };
}

/** @returns undefined for zero, which a trie does not store; else a new array */
export function encodeSlot(word: Uint8Array): Uint8Array | undefined {
  let first = 0;
  while (first < word.length && word[first] === 0) first++;
  const number = word.subarray(first);
  if (number.length === 0) return undefined;
  const isPlain = number.length === 1 && (number[0] as number) < STRING;
  if (isPlain) return number.slice();
  const encoded = new Uint8Array(1 + number.length);
  encoded[0] = STRING + number.length;
  encoded.set(number, 1);
  return encoded;
}

/** @returns the value without leading zeros, copied. @throws StoreError RECORD_DAMAGED */
export function decodeSlot(encoded: Uint8Array): Uint8Array {
  const first = encoded[0] as number;
  if (encoded.length === 1 && first < STRING) return encoded.slice();
  if (first !== STRING + encoded.length - 1 || encoded.length > 1 + WORD_BYTES)
    throw new StoreError(
      "RECORD_DAMAGED",
      `a storage trie: expected the value of a slot, got ${toHex(encoded)}`,
    );
  return encoded.slice(1);
}

function readStorage(bytes: Uint8Array, at: number): TrieRoot {
  const pageAt = at + WORD_BYTES;
  const page = Buffer.from(bytes.buffer, bytes.byteOffset + pageAt, NUMBER_BYTES).readUIntBE(0, NUMBER_BYTES);
  return {root: bytes.slice(at, pageAt), page};
}

function writeNumber(at: number, value: bigint | Uint8Array): number {
  const bytes = typeof value === "bigint" ? encodeNumber(value) : value;
  const isPlain = bytes.length === 1 && (bytes[0] as number) < STRING;
  if (!isPlain) scratch[at] = STRING + bytes.length;
  const from = isPlain ? at : at + 1;
  scratch.set(bytes, from);
  return from + bytes.length;
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number;
  return first < STRING ? at + 1 : at + 1 + first - STRING;
}

/** @returns its bytes without leading zeros, copied */
function readNumber(bytes: Uint8Array, from: number, end: number): Uint8Array {
  return bytes.slice((bytes[from] as number) < STRING ? from : from + 1, end);
}
