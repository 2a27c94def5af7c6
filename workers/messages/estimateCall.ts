/** One call of chain_estimateGas or eth_call, as it is handed to an estimate thread. */

import {WORD_BYTES} from "../../storage/hash/suite.ts";

/** Legacy, EIP-2930, EIP-1559, EIP-7702. */
export type TransactionType = 0 | 1 | 2 | 4;

/** Of what eth_call returns. A batch of 1 000 such calls stays within the limit of a response. */
export const MAX_RETURNED_BYTES: number = 128 * 1024;

/** Of the trie nodes and codes in the witness of proof_call. */
export const MAX_WITNESS_BYTES: number = 2 << 20;

/** Checked as far as possible without the block. Lists are packed: structured clone takes 0.3 us for each array. */
export interface EstimateCall {
  /** "call": it is run once, as eth_call. Default: its gas is estimated. */
  readonly kind?: "estimate" | "call";
  /** Of a call: its answer has a witness, also beside an error, as proof_call. These are the codes of such an error. */
  readonly errorCodes?: Readonly<Record<"REVERTED" | "EXECUTION_FAILED", number>> | undefined;
  /** As the caller names it, for messages. */
  readonly method?: string;
  readonly block: number;
  /** The call names the newest block. If a rollback removes it meanwhile, the newest one that is left is taken. */
  readonly isLatest?: boolean | undefined;
  /** 20 bytes. */
  readonly from?: Uint8Array | undefined;
  /** 20 bytes; undefined: a creation. */
  readonly to?: Uint8Array | undefined;
  /** At most the gas cap. */
  readonly gas?: bigint | undefined;
  /** Wei; never together with one of the next two. */
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  /** Wei, below 2^256. */
  readonly value: bigint;
  readonly data: Uint8Array;
  /** Below 2^64 - 1. */
  readonly nonce?: bigint | undefined;
  /** The type that the call names, or that its fields imply; undefined: the newest that the block's fork has. */
  readonly type?: TransactionType | undefined;
  readonly accessList?: readonly AccessListEntry[] | undefined;
  /** Type 4 only, at least one. */
  readonly authorizationList?: readonly Authorization[] | undefined;
  readonly overrides?: readonly AccountOverride[] | undefined;
  readonly blockOverrides?: BlockOverrides | undefined;
}

/** What the code sees of its block instead of the header's fields of these names. A field that is not overridden is absent. */
export interface BlockOverrides {
  readonly number?: bigint;
  /** Seconds. */
  readonly timestamp?: bigint;
  readonly gasLimit?: bigint;
  /** 20 bytes. */
  readonly miner?: Uint8Array;
  /** 32 bytes; prevRandao. */
  readonly mixHash?: Uint8Array;
  /** Wei per gas. */
  readonly baseFeePerGas?: bigint;
  /** Wei per blob gas. */
  readonly blobBaseFee?: bigint;
}

export interface AccessListEntry {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly storageKeys: Uint8Array;
}

/** EIP-7702, signed. */
export interface Authorization {
  readonly chainId: bigint;
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly nonce: bigint;
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

/** State of one account that replaces the stored one for one call. */
export interface AccountOverride {
  /** 20 bytes. */
  readonly address: Uint8Array;
  readonly balance?: bigint | undefined;
  readonly nonce?: bigint | undefined;
  readonly code?: Uint8Array | undefined;
  /** 64 bytes each: the slot, and its value. */
  readonly slots?: Uint8Array | undefined;
  /** All other slots are zero (`state`), or keep their value (`stateDiff`). */
  readonly replacesStorage?: boolean | undefined;
}

/** @param packed - words of 32 bytes, back to back. @returns views into it */
export function splitWords(packed: Uint8Array): Uint8Array[] {
  const words: Uint8Array[] = [];
  for (let at = 0; at < packed.length; at += WORD_BYTES) words.push(packed.subarray(at, at + WORD_BYTES));
  return words;
}
