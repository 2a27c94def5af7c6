/**
 * The packed form of a call for finalizations. It is as long as a call for an account without keys, and has its form in the same
 * place (packedCall.ts):
 *
 *   0          6                    12          14              28
 *   | from u48 | finalized + 1 u48 | count u16 | 14 zero bytes | form u8 |
 */

import type {Finalization} from "../../storage/block/finalization.ts";
import {KEYS_AT, ProofForm, writeCallHead} from "./packedCall.ts";

const BLOCK_BYTES = 6;
const FINALIZED_AT = 6;
const COUNT_AT = 12;

/** Upper bound of the text of one finalization. */
export const FINALIZATION_TEXT_BYTES = 400;

/** Finalizations in order, from the one that covers a block. */
export interface FinalizationsCall {
  readonly from: number;
  /** The newest finalized block of the request. -1: there is none. Later finalizations do not exist for the request. */
  readonly finalized: number;
  readonly count: number;
}

/** @returns the end of the packed call */
export function packFinalizations(
  calls: Buffer,
  start: number,
  {from, finalized, count}: FinalizationsCall,
): number {
  calls.fill(0, start, start + KEYS_AT);
  writeCallHead(calls, start, from, 0, ProofForm.FINALIZATIONS);
  calls.writeUIntBE(finalized + 1, start + FINALIZED_AT, BLOCK_BYTES);
  calls.writeUInt16BE(count, start + COUNT_AT);
  return start + KEYS_AT;
}

export function readFinalizations(call: Buffer): FinalizationsCall {
  return {
    from: call.readUIntBE(0, BLOCK_BYTES),
    finalized: call.readUIntBE(FINALIZED_AT, BLOCK_BYTES) - 1,
    count: call.readUInt16BE(COUNT_AT),
  };
}

/** What layer 1 says of a block, as results show it. */
export function describeLayer1({layer1Block, transactionHash, names, final}: Finalization): object {
  return {
    blockNumber: `0x${layer1Block.toString(16)}`,
    transactionHash: `0x${Buffer.from(transactionHash).toString("hex")}`,
    [names]: `0x${Buffer.from(final).toString("hex")}`,
  };
}
