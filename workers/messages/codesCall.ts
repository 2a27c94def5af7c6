/** A call for contract code: a packed call whose keys are the hashes, without block and address (packedCall.ts). */
import {ADDRESS_AT, KEYS_AT, ProofForm, packedBytes, readKeyCount, writeCallHead} from "./packedCall.ts";

/** Codes of one call. They hold a thread for some 5 ms. */
export const MAX_CODES = 256;
/** Bytes of the codes in one answer. The largest code that the chains' rules allow has a twentieth of it. */
export const MAX_CODES_BYTES: number = 512 * 1024;

/** Of the code in an answer of eth_getCode. A batch of 1 000 such calls stays within the limit of a response. */
export const MAX_ACCOUNT_CODE_BYTES: number = 128 * 1024;

const HASH_BYTES = 32;

/** Writes all but the hashes. @returns where they begin */
export function packCodesHead(calls: Buffer, start: number, count: number): number {
  calls.fill(0, start + ADDRESS_AT, start + KEYS_AT);
  writeCallHead(calls, start, 0, count, ProofForm.CODES);
  return start + KEYS_AT;
}

/** @returns the hashes, views */
export function readCodeHashes(call: Buffer): readonly Buffer[] {
  return Array.from({length: readKeyCount(call, 0)}, (_, i) =>
    call.subarray(packedBytes(i), packedBytes(i) + HASH_BYTES),
  );
}
