/**
 * Where an answer with changes begins or ends: at a leaf of the account tree, or of the storage tree of the account at a leaf.
 *
 *   account u40 | slot u40            as one integer: account * 2^40 + slot
 */
import type {ByteReader} from "../compact/byteReader.ts";

export interface ChangeCursor {
  readonly account: number;
  /** 0: the account is the next leaf. */
  readonly slot: number;
}

/** Of accounts and of slots. */
export const LAST_INDEX = 2 ** 40 - 1;
/** The cursor after the last change. Above every other one. */
export const LAST_CURSOR: bigint = 2n ** 80n - 1n;

/** @throws ProofError */
export function readCursor(reader: ByteReader): bigint {
  const account = BigInt(reader.u40());
  return (account << 40n) | BigInt(reader.u40());
}

/** @param cursor - 0 to LAST_CURSOR */
export function splitCursor(cursor: bigint): ChangeCursor {
  return {account: Number(cursor >> 40n), slot: Number(cursor & BigInt(LAST_INDEX))};
}
