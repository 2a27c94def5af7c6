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

const INDEXES = 2 ** 40;
/** The cursor after the last change. Above every other one. */
export const LAST: ChangeCursor = {account: INDEXES - 1, slot: INDEXES - 1};
/** The cursor of LAST as an integer. */
export const LAST_INTEGER: bigint = 2n ** 80n - 1n;

/** @throws ProofError */
export function readCursor(reader: ByteReader): ChangeCursor {
  return {account: reader.u40(), slot: reader.u40()};
}

/** @param integer - 0 to LAST_INTEGER */
export function splitCursor(integer: bigint): ChangeCursor {
  return {account: Number(integer >> 40n), slot: Number(integer & BigInt(INDEXES - 1))};
}

export function joinCursor({account, slot}: ChangeCursor): bigint {
  return (BigInt(account) << 40n) | BigInt(slot);
}

/** Is `a` before `b`? */
export function isBefore(a: ChangeCursor, b: ChangeCursor): boolean {
  return a.account < b.account || (a.account === b.account && a.slot < b.slot);
}

export function isSameCursor(a: ChangeCursor, b: ChangeCursor): boolean {
  return a.account === b.account && a.slot === b.slot;
}
