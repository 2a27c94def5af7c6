/** Reads the accounts and slots that were written since the last `seal`, with their values before and after. */
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
  /** undefined if the account did not exist, or does not exist any more. */
  readonly before: SourceAccount | undefined;
  readonly after: SourceAccount | undefined;
  /** The storage was cleared: the account has no slots but those of `slots`. */
  readonly isReset: boolean;
  /** All slots that were written, even if the value did not change. */
  readonly slots: readonly WrittenSlot[];
}

export function readWritten({instance}: Evm): WrittenEvmAccount[] {
  const {exports} = instance;
  const slots = readSlots(instance);
  const accounts: WrittenEvmAccount[] = [];
  const storageOf = (at: number) => instance.readU32(at + exports.STORAGE.value);
  for (
    let at = exports.firstWritten.value;
    at !== 0;
    at = instance.readU32(at + exports.NEXT_WRITTEN.value)
  ) {
    const base = at + exports.BASE.value;
    accounts.push({
      address: instance.readAddress(at + exports.ADDRESS.value),
      before: readFields(instance, base),
      after: readFields(instance, at),
      isReset: storageOf(at) !== storageOf(base),
      slots: slots.get(at) ?? [],
    });
  }
  return accounts;
}

/** @param address - 20 bytes. @returns the current account; undefined if it does not exist */
export function readAccount({instance}: Evm, address: Uint8Array): SourceAccount | undefined {
  return readFields(instance, instance.account(address));
}

/** @returns the slots of each account, by the account's entry */
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

/** @param at - the account's entry, or BASE bytes behind it for the values before the block */
function readFields(instance: EvmInstance, at: number): SourceAccount | undefined {
  const {EXISTS, CODE_HASH, NONCE, BALANCE, HAS_STORAGE} = instance.exports;
  if (instance.readU32(at + EXISTS.value) === 0) return undefined;
  const codeHash = at + CODE_HASH.value;
  return {
    nonce: instance.readU64(at + NONCE.value),
    balance: instance.readWord(at + BALANCE.value),
    codeHash: instance.bytes.slice(codeHash, codeHash + HASH_BYTES),
    hasStorage: instance.readU32(at + HAS_STORAGE.value) !== 0,
  };
}
