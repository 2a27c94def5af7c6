/**
 * The value of an account (docs/proofs.md, section 3): six words, 192 bytes.
 *
 *   nonce | balance | storageRoot | codeHash | keccakCodeHash | codeSize
 */
import {concatBytes} from "../bytes/byteString.ts";
import {decodeHex, encodeHex, type Hex} from "../bytes/hex.ts";
import {type HashSuite, oncePerSuite, readWord, word} from "../hash/hashSuites.ts";
import {check, checkSize, plainBytes} from "./strictJson.ts";

export const ACCOUNT_VALUE_BYTES = 192;

/** Keccak-256 of no code. */
export const NO_CODE_KECCAK: Uint8Array = decodeHex(
  "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
);

/** codeHash of an account without code. */
export const noCodeHash = oncePerSuite(suite => suite.hashCode(new Uint8Array()));

export interface Account {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Text with `0x`, like the two code hashes. */
  readonly storageRoot: Hex;
  readonly codeHash: Hex;
  readonly keccakCodeHash: Hex;
  readonly codeSize: bigint;
}

/**
 * @param value - 192 bytes
 * @throws ProofError if the length is wrong, or storageRoot or codeHash is not a digest of the suite
 */
export function decodeAccount(suite: HashSuite, value: Uint8Array, at = "value"): Account {
  const bytes = plainBytes(at, value);
  checkAccountValue(suite, bytes, at);
  const [nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize] = splitAccount(bytes);
  return {
    nonce: readWord(nonce),
    balance: readWord(balance),
    storageRoot: encodeHex(storageRoot),
    codeHash: encodeHex(codeHash),
    keccakCodeHash: encodeHex(keccakCodeHash),
    codeSize: readWord(codeSize),
  };
}

type Words = readonly [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];

export function splitAccount(value: Uint8Array): Words {
  const wordAt = (i: number) => value.subarray(32 * i, 32 * i + 32);
  return [wordAt(0), wordAt(1), wordAt(2), wordAt(3), wordAt(4), wordAt(5)];
}

function checkAccountValue(suite: HashSuite, value: Uint8Array, at: string): void {
  checkSize(at, value, ACCOUNT_VALUE_BYTES);
  check(suite.isDigest(value.subarray(64, 96)), at, "storageRoot is not a digest of the suite");
  check(suite.isDigest(value.subarray(96, 128)), at, "codeHash is not a digest of the suite");
}

/** hVal of an account. @throws ProofError as above */
export function hashAccount(suite: HashSuite, value: Uint8Array, at: string): Uint8Array {
  checkAccountValue(suite, value, at);
  return suite.hashAccountValue(value);
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
