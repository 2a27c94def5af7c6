/**
 * The bytes of an account's value in a tree part (docs/proofs.md, section 9.3).
 *
 *   flags u8: has storage 0x80 | has code 0x40 | length of nonce
 *   nonce | balance number | codeSize number, codeHash 32, keccakCodeHash 32 if it has code | storageRoot 32 or a tree part
 */
import {concatBytes, isEqual, isZero} from "../bytes/byteString.ts";
import {type HashSuite, newTreeRoot, ZERO_WORD} from "../hash/hashSuites.ts";
import {NO_CODE_KECCAK, noCodeHash, splitAccount} from "../proof/account.ts";
import {check} from "../proof/strictJson.ts";
import type {ByteReader} from "./byteReader.ts";
import type {OwnContent, TreePart} from "./treePart.ts";

const HAS_STORAGE = 0x80;
const HAS_CODE = 0x40;
const LENGTH_BITS = 0x3f;

/**
 * @param readStorage - reads the storage part; undefined if no slot is asked for
 * @throws ProofError if the bytes are not the canonical form of an account's value
 */
export function readAccount(
  suite: HashSuite,
  reader: ByteReader,
  readStorage: (() => TreePart) | undefined,
): OwnContent {
  const flags = reader.u8();
  const nonce = reader.wordOf(flags & LENGTH_BITS);
  const balance = reader.word();
  let [codeSize, codeHash, keccakCodeHash] = [ZERO_WORD, noCodeHash(suite), NO_CODE_KECCAK];
  if ((flags & HAS_CODE) !== 0) {
    const at = reader.place();
    codeSize = reader.word();
    check(!isZero(codeSize), at, "codeSize is zero");
    [codeHash, keccakCodeHash] = [reader.take(32), reader.take(32)];
  }
  let storageRoot = newTreeRoot(suite);
  let storage: TreePart | undefined;
  if ((flags & HAS_STORAGE) !== 0) {
    if (readStorage !== undefined) storage = readStorage();
    else {
      const at = reader.place();
      const sent = reader.take(32);
      check(!isEqual(sent, storageRoot), at, "the storageRoot of a new tree is sent");
      storageRoot = sent;
    }
  }
  const value = concatBytes(nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize);
  return {role: "own", value, storage};
}

/** @throws ProofError if codeSize is zero and the code hashes are not those of no code */
export function writeAccount(
  suite: HashSuite,
  out: Uint8Array[],
  {value, storage}: OwnContent,
  writeStorage: (storage: TreePart) => void,
): void {
  const [nonce, balance, storageRoot, codeHash, keccakCodeHash, codeSize] = splitAccount(value);
  const hasCode = !isZero(codeSize);
  const isNone = isEqual(codeHash, noCodeHash(suite)) && isEqual(keccakCodeHash, NO_CODE_KECCAK);
  check(hasCode || isNone, "account", "codeSize is zero, but the code hashes are not those of no code");
  const hasStorage = storage !== undefined || !isEqual(storageRoot, newTreeRoot(suite));
  const nonceBytes = shortest(nonce);
  const flags = (hasStorage ? HAS_STORAGE : 0) | (hasCode ? HAS_CODE : 0) | nonceBytes.length;
  out.push(Uint8Array.of(flags), nonceBytes);
  writeNumber(out, balance);
  if (hasCode) {
    writeNumber(out, codeSize);
    out.push(codeHash, keccakCodeHash);
  }
  if (storage !== undefined) writeStorage(storage);
  else if (hasStorage) out.push(storageRoot);
}

/** A length byte, and the number that the word holds in so many bytes. */
export function writeNumber(out: Uint8Array[], word: Uint8Array): void {
  const digits = shortest(word);
  out.push(Uint8Array.of(digits.length), digits);
}

/** @returns without leading zeros */
function shortest(word: Uint8Array): Uint8Array {
  const first = word.findIndex(byte => byte !== 0);
  return first === -1 ? new Uint8Array() : word.subarray(first);
}
