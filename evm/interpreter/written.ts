/** What was written since the last `seal`: accounts and slots, after it and before. */
import type {Evm} from "./evm.ts";
import type {EvmInstance} from "./instance.ts";
import type {SourceAccount} from "./stateSource.ts";

const HASH_BYTES = 32;

/** 32 bytes each. */
interface WrittenSlot {
  readonly slot: Uint8Array;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
}

interface WrittenEvmAccount {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** undefined: there is none. */
  readonly before: SourceAccount | undefined;
  readonly after: SourceAccount | undefined;
  /** It lost the slots that it had: `slots` are all that it has now. */
  readonly isReset: boolean;
  /** Written ones, also if the value is the same in the end. */
  readonly slots: readonly WrittenSlot[];
}

export function readWritten({instance}: Evm): WrittenEvmAccount[] {
  const {exports} = instance;
  const slots = readSlots(instance);
  const accounts: WrittenEvmAccount[] = [];
  for (
    let at = exports.firstWritten.value;
    at !== 0;
    at = instance.readU32(at + exports.NEXT_WRITTEN.value)
  ) {
    const before = readAccount(instance, {
      exists: at + exports.BASE_EXISTS.value,
      nonce: at + exports.BASE_NONCE.value,
      balance: at + exports.BASE_BALANCE.value,
      codeHash: at + exports.BASE_CODE_HASH.value,
      hasStorage: at + exports.BASE_HAS_STORAGE.value,
    });
    const after = readAccount(instance, {
      exists: at + exports.EXISTS.value,
      nonce: at + exports.NONCE.value,
      balance: at + exports.BALANCE.value,
      codeHash: at + exports.CODE_HASH.value,
      hasStorage: at + exports.HAS_STORAGE.value,
    });
    accounts.push({
      address: instance.readAddress(at + exports.ADDRESS.value),
      before,
      after,
      isReset:
        instance.readU32(at + exports.STORAGE.value) !== instance.readU32(at + exports.BASE_STORAGE.value),
      slots: slots.get(at) ?? [],
    });
  }
  return accounts;
}

/** By the account's entry. */
function readSlots(instance: EvmInstance): Map<number, WrittenSlot[]> {
  const {exports} = instance;
  const slots = new Map<number, WrittenSlot[]>();
  for (
    let at = exports.firstWrittenSlot.value;
    at !== 0;
    at = instance.readU32(at + exports.NEXT_SLOT_WRITTEN.value)
  ) {
    if (exports.isCurrent(at) === 0) continue;
    const account = instance.readU32(at + exports.SLOT_ACCOUNT.value);
    const written = slots.get(account) ?? [];
    slots.set(account, written);
    written.push({
      slot: instance.readWordBytes(at + exports.KEY.value),
      before: instance.readWordBytes(at + exports.BASE_VALUE.value),
      after: instance.readWordBytes(at + exports.SLOT_VALUE.value),
    });
  }
  return slots;
}

/** @param at - where each field lies */
function readAccount(
  instance: EvmInstance,
  at: Record<"exists" | "nonce" | "balance" | "codeHash" | "hasStorage", number>,
): SourceAccount | undefined {
  if (instance.readU32(at.exists) === 0) return undefined;
  return {
    nonce: instance.readU64(at.nonce),
    balance: instance.readWord(at.balance),
    codeHash: instance.bytes.slice(at.codeHash, at.codeHash + HASH_BYTES),
    hasStorage: instance.readU32(at.hasStorage) !== 0,
  };
}
