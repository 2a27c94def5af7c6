/** Gas prices and limits from berlin on. The host writes those that differ by fork (../rules.ts). */
import {PARAMS} from "./layout";

/** EIP-2929: first access to an account in a transaction. */
export const COLD_ACCOUNT_GAS: i64 = 2600;
/** EIP-2929: first access to a slot. */
export const COLD_SLOT_GAS: i64 = 2100;
/** EIP-2929: later accesses. */
export const WARM_GAS: i64 = 100;
/** EIP-2200: setting a slot that was 0. */
export const SLOT_SET_GAS: i64 = 20000;
/** EIP-2200 and EIP-2929: changing a slot that was not 0. */
export const SLOT_CHANGE_GAS: i64 = 2900;
/** EIP-2200: SSTORE fails with this gas or less. */
export const WRITE_SENTRY_GAS: i64 = 2300;
/** A call with value. */
export const VALUE_GAS: i64 = 9000;
/** EIP-161: a call with value to an empty account. */
export const NEW_ACCOUNT_GAS: i64 = 25000;
/** SELFDESTRUCT, besides the account that it reads. */
export const DESTROY_GAS: i64 = 5000;
export const STIPEND_GAS: i64 = 2300;
/** Per byte of new code. */
export const CODE_BYTE_GAS: i64 = 200;
/** EIP-170: maximum code size. */
export const MAX_CODE_BYTES: u32 = 24576;
/** Per word: KECCAK256, and the initcode of CREATE2. */
export const HASH_WORD_GAS: i64 = 6;
/** Per word: CALLDATACOPY and other copies. */
export const COPY_WORD_GAS: i64 = 3;
/** Per byte of the exponent: EXP (EIP-160). */
export const EXPONENT_BYTE_GAS: i64 = 50;
/** Per byte of log data. */
export const LOG_BYTE_GAS: i64 = 8;
/** Memory gas is this per word ... */
export const MEMORY_WORD_GAS: i64 = 3;
/** ... plus the square of the number of words divided by this. */
export const MEMORY_SQUARE: u64 = 512;
/** The identity precompile: base price, and price per word. */
export const IDENTITY_GAS: i64 = 15;
export const IDENTITY_WORD_GAS: i64 = 3;

/** What the host has written at one of the places below. */
export function param(index: usize): u32 {
  return load<u32>(PARAMS + 4 * index);
}

/** Addresses from 1 to this number are precompiles. */
export const LAST_PRECOMPILE: usize = 0;
/** EIP-7951: 0x100 is a precompile. */
export const HAS_P256: usize = 1;
/** Refund for clearing a slot (EIP-3529). */
export const CLEARING_REFUND: usize = 2;
/** Refund for SELFDESTRUCT: 24 000 before EIP-3529, then 0. */
export const DESTRUCTION_REFUND: usize = 3;
/** EIP-3541: new code must not start with 0xef. */
export const REFUSES_EF: usize = 4;
/** EIP-3860: gas per word of initcode; 0 before. */
export const INITCODE_WORD_GAS: usize = 5;
/** EIP-6780: SELFDESTRUCT removes only accounts that were created in the same transaction. */
export const DESTROYS_ONLY_NEW: usize = 6;
/** EIP-7702: code may be a delegation. */
export const HAS_DELEGATIONS: usize = 7;
/** EIP-3860; 0: no limit. */
export const MAX_INITCODE_BYTES: usize = 8;
