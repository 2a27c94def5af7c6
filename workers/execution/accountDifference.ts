/**
 * What a block changed in one account: its state after the block against its state before. Steps in between do not show.
 */
import type {Account} from "@ethereumjs/util";
import type {AccountDifference, SlotDifference} from "../../storage/block/accountDifference.ts";

/** An account that a block wrote to. */
export interface WrittenAccount {
  /** undefined: there was none before the block. */
  readonly before: Account | undefined;
  /** undefined: there is none after it. */
  readonly after: Account | undefined;
  /** During the block it was deleted, or lost its storage to a creation at its address. */
  readonly isReset: boolean;
  /** Slots written since the last reset: 32 bytes each, and the value without leading zeros. */
  readonly slots: readonly (readonly [slot: Uint8Array, value: Uint8Array])[];
  readonly code: Uint8Array;
}

const WORD_BYTES = 32;

/**
 * @param readSlotBefore - the slot's value before the block, without leading zeros
 * @returns undefined if nothing changed in the end
 */
export function differAccount(
  address: Uint8Array,
  written: WrittenAccount,
  readSlotBefore: (slot: Uint8Array) => Uint8Array,
): AccountDifference | undefined {
  const {before, after, slots} = written;
  if (after === undefined) return before === undefined ? undefined : {address, change: undefined};
  if (before === undefined || written.isReset) {
    const {nonce, balance} = after;
    const storage = slots.filter(([, value]) => value.length > 0).map(toSlotDifference);
    return {address, change: {reset: before !== undefined, nonce, balance, code: written.code, storage}};
  }
  const storage: SlotDifference[] = [];
  for (const [slot, value] of slots)
    if (Buffer.compare(value, readSlotBefore(slot)) !== 0) storage.push(toSlotDifference([slot, value]));
  const hasNewCode = Buffer.compare(before.codeHash, after.codeHash) !== 0;
  if (before.nonce === after.nonce && before.balance === after.balance && !hasNewCode && storage.length === 0)
    return undefined;
  return {
    address,
    change: {
      ...(before.nonce !== after.nonce && {nonce: after.nonce}),
      ...(before.balance !== after.balance && {balance: after.balance}),
      ...(hasNewCode && {code: written.code}),
      storage,
    },
  };
}

function toSlotDifference([slot, value]: readonly [Uint8Array, Uint8Array]): SlotDifference {
  const word = new Uint8Array(WORD_BYTES);
  word.set(value, WORD_BYTES - value.length);
  return {slot, value: word};
}
