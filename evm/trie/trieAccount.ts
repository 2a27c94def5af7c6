/**
 * An account as the state trie has it, and a slot's value.
 *
 *   account   [nonce, balance, storage root 32, code hash 32]      RLP; numbers without leading zeros
 *   slot      the value without leading zeros                      RLP
 */

import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";

export interface TrieAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** 32 bytes. */
  readonly storageRoot: Uint8Array;
  /** 32 bytes, keccak256. */
  readonly codeHash: Uint8Array;
}

const WORD_BYTES = 32;
const STRING = 0x80;
const HASH = STRING + WORD_BYTES;
const LONG_LIST = 0xf8;

const scratch = Buffer.alloc(128);

/** @returns a view until the next call */
export function encodeAccount({nonce, balance, storageRoot, codeHash}: TrieAccount): Uint8Array {
  let at = writeNumber(2, nonce);
  at = writeNumber(at, balance);
  for (const hash of [storageRoot, codeHash]) {
    scratch[at] = HASH;
    scratch.set(hash, at + 1);
    at += 1 + WORD_BYTES;
  }
  // Two hashes alone are longer than 55 bytes.
  scratch[0] = LONG_LIST;
  scratch[1] = at - 2;
  return scratch.subarray(0, at);
}

/** @throws StoreError RECORD_DAMAGED if it is no account */
export function decodeAccount(bytes: Uint8Array): TrieAccount {
  const nonceAt = 2;
  const balanceAt = endOfNumber(bytes, nonceAt);
  const rootAt = endOfNumber(bytes, balanceAt);
  const codeAt = rootAt + 1 + WORD_BYTES;
  if (
    bytes[0] !== LONG_LIST ||
    bytes[1] !== bytes.length - 2 ||
    bytes[rootAt] !== HASH ||
    bytes[codeAt] !== HASH ||
    codeAt + 1 + WORD_BYTES !== bytes.length
  )
    throw new StoreError("RECORD_DAMAGED", `the state trie: expected an account, got ${toHex(bytes)}`);
  return {
    nonce: readNumber(bytes, nonceAt, balanceAt),
    balance: readNumber(bytes, balanceAt, rootAt),
    storageRoot: bytes.slice(rootAt + 1, codeAt),
    codeHash: bytes.slice(codeAt + 1),
  };
}

/** @returns undefined for zero, which a trie does not hold; else a new array */
export function encodeSlot(word: Uint8Array): Uint8Array | undefined {
  let first = 0;
  while (first < word.length && word[first] === 0) first++;
  const bytes = word.length - first;
  if (bytes === 0) return undefined;
  const isPlain = bytes === 1 && word[first] < STRING;
  const encoded = new Uint8Array(isPlain ? 1 : 1 + bytes);
  if (!isPlain) encoded[0] = STRING + bytes;
  encoded.set(word.subarray(first), encoded.length - bytes);
  return encoded;
}

/** @returns the value without leading zeros, a new array. @throws StoreError RECORD_DAMAGED if it is no slot's */
export function decodeSlot(encoded: Uint8Array): Uint8Array {
  const first = encoded[0];
  if (encoded.length === 1 && first < STRING) return encoded.slice();
  if (first !== STRING + encoded.length - 1 || encoded.length > 1 + WORD_BYTES)
    throw new StoreError(
      "RECORD_DAMAGED",
      `a storage trie: expected the value of a slot, got ${toHex(encoded)}`,
    );
  return encoded.slice(1);
}

/** @returns the position after it */
function writeNumber(at: number, value: bigint): number {
  if (value < 0x80n) {
    scratch[at] = value === 0n ? STRING : Number(value);
    return at + 1;
  }
  const hex = value.toString(16);
  const bytes = (hex.length + 1) >> 1;
  scratch[at] = STRING + bytes;
  scratch.write(hex.length % 2 === 0 ? hex : `0${hex}`, at + 1, "hex");
  return at + 1 + bytes;
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  return first < STRING ? at + 1 : at + 1 + first - STRING;
}

function readNumber(bytes: Uint8Array, from: number, end: number): bigint {
  const first = bytes[from];
  if (first < STRING) return BigInt(first);
  if (first === STRING) return 0n;
  return BigInt(
    `0x${Buffer.from(bytes.buffer, bytes.byteOffset + from + 1, end - from - 1).toString("hex")}`,
  );
}
