/** The gas and bounds of all forks from berlin on, and the parameters that forks differ in, which the host writes (rules.ts). */
import {PARAMS} from "./layout";

/** EIP-2929: the first look at an account in a transaction. */
export const COLD_ACCOUNT_GAS: i64 = 2600;
/** EIP-2929: the first look at a slot. */
export const COLD_SLOT_GAS: i64 = 2100;
/** EIP-2929: every later look. */
export const WARM_GAS: i64 = 100;
/** EIP-2200: a slot that was 0. */
export const SLOT_SET_GAS: i64 = 20000;
/** EIP-2200 and EIP-2929: a slot that was not 0. */
export const SLOT_CHANGE_GAS: i64 = 2900;
/** EIP-2200: a frame with no more than this must not write. */
export const WRITE_SENTRY_GAS: i64 = 2300;
/** A call that carries value. */
export const VALUE_GAS: i64 = 9000;
/** EIP-161: value for an account that is empty. */
export const NEW_ACCOUNT_GAS: i64 = 25000;
/** What a call that carries value gives on top. */
export const STIPEND_GAS: i64 = 2300;
/** Each byte of new code. */
export const CODE_BYTE_GAS: i64 = 200;
/** EIP-170. */
export const MAX_CODE_BYTES: u32 = 24576;
/** KECCAK256, and the initcode of CREATE2. */
export const HASH_WORD_GAS: i64 = 6;
/** CALLDATACOPY and the like. */
export const COPY_WORD_GAS: i64 = 3;
/** EXP (EIP-160). */
export const EXPONENT_BYTE_GAS: i64 = 50;
/** Each byte of a log. */
export const LOG_BYTE_GAS: i64 = 8;
/** Each word of memory, ... */
export const MEMORY_WORD_GAS: i64 = 3;
/** ... and the square of their number, divided by this. */
export const MEMORY_SQUARE: u64 = 512;
/** The precompile of the interpreter: once, and each word. */
export const IDENTITY_GAS: i64 = 15;
export const IDENTITY_WORD_GAS: i64 = 3;

function flag(index: usize): bool {
  return load<u32>(PARAMS + 4 * index) != 0;
}

/** Addresses from 1 to this number are precompiles. */
export function lastPrecompile(): u64 {
  return load<u32>(PARAMS);
}

/** EIP-7951: 0x100 is a precompile. */
export function hasP256(): bool {
  return flag(1);
}

/** EIP-3529: what clearing a slot gives back. */
export function clearingRefund(): i64 {
  return load<u32>(PARAMS + 8);
}

/** 24 000 before EIP-3529, then 0. */
export function destructionRefund(): i64 {
  return load<u32>(PARAMS + 12);
}

/** EIP-3541: no new code begins with 0xef. */
export function refusesEf(): bool {
  return flag(4);
}

/** EIP-3860: gas for each word of initcode; 0 before, when its length has no limit. */
export function initcodeWordGas(): i64 {
  return load<u32>(PARAMS + 20);
}

/** EIP-6780: only what was created in the same transaction is destroyed. */
export function destroysOnlyNew(): bool {
  return flag(6);
}

/** EIP-7702: code may delegate to another account's. */
export function hasDelegations(): bool {
  return flag(7);
}

export function maxInitcodeBytes(): u32 {
  return load<u32>(PARAMS + 32);
}
