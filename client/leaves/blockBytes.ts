/**
 * The beginning of answers in bytes (docs/proofs.md, 15.1 and 16.1):
 *
 *   first byte | block, or two: number u48 | hash 32 | stateRoot 32 | of the storage of one account: length u16, its proof bytes
 */
import {encodeHex, type Hex} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import type {ByteReader} from "../compact/byteReader.ts";
import {verifyMultiProof} from "../compact/compactProof.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import type {ProvenAccount} from "../proof/proofVerifier.ts";
import {check, plainBytes, readFields} from "../proof/strictJson.ts";

export interface AnsweredBlock {
  readonly number: bigint;
  /** `0x` text. Nothing proves it. */
  readonly hash: Hex;
  /** `0x` text: a trusted root, once it is verified. */
  readonly stateRoot: Hex;
}

/** @throws ProofError, as all of these */
export function checkFields(name: string, value: unknown, types: Readonly<Record<string, string>>): void {
  const fields = readFields(name, value, Object.keys(types));
  for (const [i, [field, type]] of Object.entries(types).entries())
    check(typeof fields[i] === type, `${name}.${field}`, () => `expected a ${type}, got ${shown(fields[i])}`);
}

export function readFirstByte(reader: ByteReader, expected: number): void {
  const first = reader.uint(1);
  check(first === expected, "byte 0", `expected ${expected}, got ${first}`);
}

export function readBlock(reader: ByteReader): AnsweredBlock {
  const number = BigInt(reader.uint(6));
  return {number, hash: encodeHex(reader.take(32)), stateRoot: encodeHex(reader.take(32))};
}

export function requireRoot(name: string, {stateRoot}: AnsweredBlock, root: Uint8Array): void {
  const trusted = encodeHex(plainBytes("root", root));
  check(stateRoot === trusted, `${name}.stateRoot`, `expected ${trusted}, got ${stateRoot}`);
}

/** @returns undefined if the account is absent */
export function readAccount(
  suite: HashSuite,
  reader: ByteReader,
  stateRoot: Uint8Array,
  address: string,
): ProvenAccount | undefined {
  const proof = reader.take(reader.uint(2));
  return verifyMultiProof(suite, stateRoot, [{address, storageKeys: []}], proof)[0]?.account;
}
