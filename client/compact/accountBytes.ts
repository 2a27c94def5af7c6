/**
 * The bytes of an account's value in a tree part (docs/proofs.md, section 9.3).
 *
 *   flags u8: has storage 0x80 | has code 0x40 | length of nonce
 *   nonce | balance number | codeSize number, codeHash 32, keccakCodeHash 32 if it has code | storageRoot 32 or a tree part
 */
import {isEqual} from "../bytes/byteString.ts";
import {type HashSuite, newTreeRoot} from "../hash/hashSuites.ts";
import {NO_CODE_KECCAK, noCodeHash} from "../proof/account.ts";
import {check} from "../proof/strictJson.ts";
import type {ByteReader} from "./byteReader.ts";
import {type ByteWriter, shortest} from "./byteWriter.ts";
import type {AccountContent, TreePart} from "./treePart.ts";

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
): AccountContent {
  const flags = reader.u8();
  const nonce = reader.numberOf(flags & LENGTH_BITS);
  const balance = reader.number();
  const code = (flags & HAS_CODE) === 0 ? noCode(suite) : readCode(reader);
  const value = {role: "account" as const, nonce, balance, ...code};
  if ((flags & HAS_STORAGE) === 0) return {...value, storageRoot: newTreeRoot(suite), storage: undefined};
  if (readStorage !== undefined) return {...value, storageRoot: undefined, storage: readStorage()};
  const at = reader.place();
  const storageRoot = reader.take(32);
  check(!isEqual(storageRoot, newTreeRoot(suite)), at, "the storageRoot of a new tree is sent");
  return {...value, storageRoot, storage: undefined};
}

type Code = Pick<AccountContent, "codeSize" | "codeHash" | "keccakCodeHash">;

function noCode(suite: HashSuite): Code {
  return {codeSize: 0n, codeHash: noCodeHash(suite), keccakCodeHash: NO_CODE_KECCAK.slice()};
}

function readCode(reader: ByteReader): Code {
  const at = reader.place();
  const codeSize = reader.number();
  check(codeSize !== 0n, at, "codeSize is zero");
  return {codeSize, codeHash: reader.take(32), keccakCodeHash: reader.take(32)};
}

/** @throws ProofError if codeSize is zero and the code hashes are not those of no code */
export function writeAccount(
  suite: HashSuite,
  writer: ByteWriter,
  account: AccountContent,
  writeStorage: (storage: TreePart) => void,
): void {
  const {nonce, balance, codeSize, codeHash, keccakCodeHash, storageRoot, storage} = account;
  const hasCode = codeSize !== 0n;
  const none = noCode(suite);
  const isNone = isEqual(codeHash, none.codeHash) && isEqual(keccakCodeHash, none.keccakCodeHash);
  check(hasCode || isNone, "account", "codeSize is zero, but the code hashes are not those of no code");
  const hasStorage =
    storage !== undefined || storageRoot === undefined || !isEqual(storageRoot, newTreeRoot(suite));
  const nonceBytes = shortest(nonce);
  writer.u8((hasStorage ? HAS_STORAGE : 0) | (hasCode ? HAS_CODE : 0) | nonceBytes.length);
  writer.raw(nonceBytes);
  writer.number(balance);
  if (hasCode) {
    writer.number(codeSize);
    writer.raw(codeHash);
    writer.raw(keccakCodeHash);
  }
  if (storage !== undefined) writeStorage(storage);
  else if (hasStorage) writer.raw(storageRoot as Uint8Array);
}
