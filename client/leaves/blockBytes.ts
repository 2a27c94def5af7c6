/**
 * The block that an answer in bytes is about (docs/proofs.md, 15.1):
 *
 *   number u48 | hash 32 | stateRoot 32
 */
import {encodeHex} from "../bytes/hex.ts";
import type {ByteReader} from "../compact/byteReader.ts";

export interface AnsweredBlock {
  readonly number: bigint;
  /** `0x` text. Nothing proves it. */
  readonly hash: string;
  /** `0x` text: a trusted root, once it is verified. */
  readonly stateRoot: string;
}

/** @throws ProofError */
export function readBlock(reader: ByteReader): AnsweredBlock {
  const number = BigInt(reader.u48());
  return {number, hash: encodeHex(reader.take(32)), stateRoot: encodeHex(reader.take(32))};
}
