/**
 * What a block changed in one account: its state after the block against its state before. Steps in between do not show.
 */
import type {AccountDifference, SlotDifference} from "../../../storage/block/accountDifference.ts";

interface AccountFields {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Uint8Array;
}

/** An account that a block wrote to. */
export interface WrittenAccount {
  /** undefined: there was none before the block. */
  readonly before: AccountFields | undefined;
  /** undefined: there is none after it. */
  readonly after: AccountFields | undefined;
  /** During the block it was deleted, or lost its storage to a creation at its address. */
  readonly isReset: boolean;
  /** Slots that have another value than before the block; with `isReset`, than an empty one. */
  readonly slots: readonly WrittenSlot[];
  readonly readCode: () => Uint8Array;
}

/** 32 bytes, and a value of at most 32 bytes: leading zeros may be left out. */
export type WrittenSlot = readonly [slot: Uint8Array, value: Uint8Array];

const WORD_BYTES = 32;

/** @returns undefined if nothing changed in the end */
export function differAccount(address: Uint8Array, written: WrittenAccount): AccountDifference | undefined {
  const {before, after, slots} = written;
  if (after === undefined) return before === undefined ? undefined : {address, change: undefined};
  const storage = slots.map(toSlotDifference);
  const {nonce, balance} = after;
  if (before === undefined || written.isReset) {
    const reset = before !== undefined;
    return {address, change: {reset, nonce, balance, code: written.readCode(), storage}};
  }
  const hasNewCode = Buffer.compare(before.codeHash, after.codeHash) !== 0;
  if (before.nonce === nonce && before.balance === balance && !hasNewCode && storage.length === 0)
    return undefined;
  return {
    address,
    change: {
      nonce: before.nonce === nonce ? undefined : nonce,
      balance: before.balance === balance ? undefined : balance,
      code: hasNewCode ? written.readCode() : undefined,
      storage,
    },
  };
}

function toSlotDifference([slot, value]: WrittenSlot): SlotDifference {
  const word = new Uint8Array(WORD_BYTES);
  word.set(value, WORD_BYTES - value.length);
  return {slot, value: word};
}
