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
  for (let at = exports.firstWritten.value; at !== 0; at = instance.readU32(at + exports.NEXT_WRITTEN.value))
    accounts.push({
      address: instance.readAddress(at + exports.ADDRESS.value),
      before: readFields(instance, at, "BASE_"),
      after: readFields(instance, at, ""),
      isReset:
        instance.readU32(at + exports.STORAGE.value) !== instance.readU32(at + exports.BASE_STORAGE.value),
      slots: slots.get(at) ?? [],
    });
  return accounts;
}

/** @param address - 20 bytes. @returns what the account is now; undefined: there is none */
export function readAccount({instance}: Evm, address: Uint8Array): SourceAccount | undefined {
  return readFields(instance, instance.account(address), "");
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

/** @param at - the account's entry. @param prefix - of the fields' names */
function readFields(instance: EvmInstance, at: number, prefix: "" | "BASE_"): SourceAccount | undefined {
  const {exports} = instance;
  if (instance.readU32(at + exports[`${prefix}EXISTS`].value) === 0) return undefined;
  const codeHash = at + exports[`${prefix}CODE_HASH`].value;
  return {
    nonce: instance.readU64(at + exports[`${prefix}NONCE`].value),
    balance: instance.readWord(at + exports[`${prefix}BALANCE`].value),
    codeHash: instance.bytes.slice(codeHash, codeHash + HASH_BYTES),
    hasStorage: instance.readU32(at + exports[`${prefix}HAS_STORAGE`].value) !== 0,
  };
}
