/** A call for finalizations, packed with its fields as text (packedCall.ts). */
import type {Finalization} from "../../storage/block/finalization.ts";
import {toHex} from "../../storage/hex.ts";
import {ProofForm, packFields, readCallBlock, readFields} from "./packedCall.ts";

/** Upper bound of the text of one finalization. */
export const FINALIZATION_TEXT_BYTES = 400;

/** Finalizations in order, from the one that covers a block. */
export interface FinalizationsCall {
  readonly from: number;
  /** The newest finalized block of the request. -1: there is none. Later finalizations do not exist for the request. */
  readonly finalized: number;
  readonly count: number;
}

export function packFinalizations({from, ...fields}: FinalizationsCall): Buffer {
  return packFields(ProofForm.FINALIZATIONS, from, undefined, fields);
}

export function readFinalizations(call: Buffer): FinalizationsCall {
  return {...readFields<Omit<FinalizationsCall, "from">>(call), from: readCallBlock(call, 0)};
}

/** What layer 1 says of a block, as results show it. */
export function describeLayer1({layer1Block, transactionHash, names, final}: Finalization): object {
  return {
    blockNumber: `0x${layer1Block.toString(16)}`,
    transactionHash: toHex(transactionHash),
    [names]: toHex(final),
  };
}
