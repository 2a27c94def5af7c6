/**
 * The packed form of a call for the leaves of a range. It is a call for one account with one key (packedCall.ts), whose key's place
 * holds the range:
 *
 *   0           6            26              28        29         34          36
 *   | block u48 | address 20 | key count = 1 | form u8 | from u40 | count u16 | isAccounts u8 | 24 zero bytes |
 *
 * Without an address, the tree is that of all accounts.
 */
import {ADDRESS_AT, KEYS_AT, type ProofForm, packedBytes, writeCallHead} from "./packedCall.ts";

/** Leaves of one call. They hold a thread for some 10 ms. */
export const MAX_LEAVES = 4096;

/** Of the leaves of one answer, here and in changesCall.ts. */
export const MAX_RECORDS_BYTES = 512 * 1024;
/** Upper bound of such an answer: it also has proofs of one or two accounts, of 64 KiB each at most, and nodes beside the leaves. */
export const MAX_RANGE_BYTES = 2 * MAX_RECORDS_BYTES;

const ADDRESS_BYTES = 20;
const FROM_BYTES = 5;
const COUNT_AT = KEYS_AT + FROM_BYTES;
const IS_ACCOUNTS_AT = COUNT_AT + 2;

export interface LeavesCall {
  readonly block: number;
  /** undefined: the tree of all accounts. */
  readonly address: Uint8Array | undefined;
  readonly from: number;
  /** 1 to MAX_LEAVES. */
  readonly count: number;
}

/** @returns the end of the packed call */
export function packLeaves(
  calls: Buffer,
  start: number,
  {block, address, from, count}: LeavesCall,
  form: ProofForm,
): number {
  const end = start + packedBytes(1);
  calls.fill(0, start, end);
  writeCallHead(calls, start, block, 1, form);
  if (address !== undefined) calls.set(address, start + ADDRESS_AT);
  calls.writeUIntBE(from, start + KEYS_AT, FROM_BYTES);
  calls.writeUInt16BE(count, start + COUNT_AT);
  calls[start + IS_ACCOUNTS_AT] = address === undefined ? 1 : 0;
  return end;
}

export function readLeavesCall(call: Buffer): LeavesCall {
  const isAccounts = call[IS_ACCOUNTS_AT] === 1;
  return {
    block: call.readUIntBE(0, 6),
    address: isAccounts ? undefined : call.subarray(ADDRESS_AT, ADDRESS_AT + ADDRESS_BYTES),
    from: call.readUIntBE(KEYS_AT, FROM_BYTES),
    count: call.readUInt16BE(COUNT_AT),
  };
}
