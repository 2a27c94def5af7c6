/**
 * The value of an account (docs/proofs.md, section 3): six words, 192 bytes.
 *
 *   nonce | balance | storageRoot | codeHash | keccakCodeHash | codeSize
 */
import {concatBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {type HashSuite, readWord, word} from "../hash/hashSuites.ts";
import {check} from "./strictJson.ts";

export const ACCOUNT_VALUE_BYTES = 192;

/** Keccak-256 of no code. */
export const NO_CODE_KECCAK: Uint8Array = decodeHex(
  "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
);

const noCodeOfSuite = new WeakMap<HashSuite, Uint8Array>();

/** codeHash of an account without code. Made once for a suite. */
export function noCodeHash(suite: HashSuite): Uint8Array {
  const known = noCodeOfSuite.get(suite);
  if (known !== undefined) return known;
  const hash = suite.hashCode(new Uint8Array());
  noCodeOfSuite.set(suite, hash);
  return hash;
}

export interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Text with `0x`, like the two code hashes. */
  readonly storageRoot: string;
  readonly codeHash: string;
  readonly keccakCodeHash: string;
  readonly codeSize: bigint;
}

/**
 * @param value - 192 bytes
 * @throws ProofError if the length is another, or storageRoot or codeHash is no digest of the suite
 */
export function decodeAccount(suite: HashSuite, value: Uint8Array, at = "value"): Account {
  checkAccountValue(suite, value, at);
  const wordAt = (i: number) => value.subarray(32 * i, 32 * i + 32);
  return {
    nonce: readWord(wordAt(0)),
    balance: readWord(wordAt(1)),
    storageRoot: encodeHex(wordAt(2)),
    codeHash: encodeHex(wordAt(3)),
    keccakCodeHash: encodeHex(wordAt(4)),
    codeSize: readWord(wordAt(5)),
  };
}

/** @throws ProofError as above; other values cannot be hashed */
export function checkAccountValue(suite: HashSuite, value: Uint8Array, at: string): void {
  check(value.length === ACCOUNT_VALUE_BYTES, at, `is not ${ACCOUNT_VALUE_BYTES} bytes`);
  check(suite.isDigest(value.subarray(64, 96)), at, "storageRoot is no digest of the suite");
  check(suite.isDigest(value.subarray(96, 128)), at, "codeHash is no digest of the suite");
}

/** @returns 192 bytes */
export function encodeAccount(account: Account): Uint8Array {
  return concatBytes(
    word(account.nonce),
    word(account.balance),
    decodeHex(account.storageRoot),
    decodeHex(account.codeHash),
    decodeHex(account.keccakCodeHash),
    word(account.codeSize),
  );
}
