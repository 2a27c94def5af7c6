/** A call for the leaves of a range, packed with its fields as text (packedCall.ts). */
import {type ProofForm, packFields, readAddress, readCallBlock, readFields} from "./packedCall.ts";

/** Leaves of one call. They hold a thread for some 10 ms. */
export const MAX_LEAVES = 4096;

/** Of the leaves of one answer, here and in changesCall.ts. */
export const MAX_RECORDS_BYTES = 512 * 1024;
/** Such an answer also has proofs of one or two accounts, of 64 KiB each at most, and nodes beside the leaves. */
export const MAX_RANGE_BYTES = 2 * MAX_RECORDS_BYTES;

export interface LeavesCall {
  readonly block: number;
  /** undefined: the tree of all accounts. */
  readonly address: Uint8Array | undefined;
  readonly from: number;
  /** 1 to MAX_LEAVES. */
  readonly count: number;
}

export function packLeaves({block, address, from, count}: LeavesCall, form: ProofForm): Buffer {
  return packFields(form, block, address, {from, count, isAccounts: address === undefined});
}

export function readLeavesCall(call: Buffer): LeavesCall {
  const {from, count, isAccounts} = readFields<{from: number; count: number; isAccounts: boolean}>(call);
  const address = isAccounts ? undefined : readAddress(call);
  return {block: readCallBlock(call, 0), address, from, count};
}
