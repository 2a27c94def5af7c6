/** The fork's parameters, which the host writes. rules.ts says what each is. */
import {PARAMS} from "./layout";

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

export function coldAccountGas(): i64 {
  return load<u32>(PARAMS + 32);
}

export function coldSlotGas(): i64 {
  return load<u32>(PARAMS + 36);
}

export function warmGas(): i64 {
  return load<u32>(PARAMS + 40);
}

export function slotSetGas(): i64 {
  return load<u32>(PARAMS + 44);
}

export function slotChangeGas(): i64 {
  return load<u32>(PARAMS + 48);
}

export function writeSentryGas(): i64 {
  return load<u32>(PARAMS + 52);
}

export function valueGas(): i64 {
  return load<u32>(PARAMS + 56);
}

export function newAccountGas(): i64 {
  return load<u32>(PARAMS + 60);
}

export function stipendGas(): i64 {
  return load<u32>(PARAMS + 64);
}

export function codeByteGas(): i64 {
  return load<u32>(PARAMS + 68);
}

export function maxCodeBytes(): u32 {
  return load<u32>(PARAMS + 72);
}

export function maxInitcodeBytes(): u32 {
  return load<u32>(PARAMS + 76);
}

export function hashWordGas(): i64 {
  return load<u32>(PARAMS + 80);
}

export function copyWordGas(): i64 {
  return load<u32>(PARAMS + 84);
}

export function exponentByteGas(): i64 {
  return load<u32>(PARAMS + 88);
}

export function logByteGas(): i64 {
  return load<u32>(PARAMS + 92);
}

export function memoryWordGas(): i64 {
  return load<u32>(PARAMS + 96);
}

export function memorySquare(): i64 {
  return load<u32>(PARAMS + 100);
}

export function identityGas(): i64 {
  return load<u32>(PARAMS + 104);
}

export function identityWordGas(): i64 {
  return load<u32>(PARAMS + 108);
}
