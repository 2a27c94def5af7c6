/** The fork's parameters, which the host writes (rules.ts). */
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
