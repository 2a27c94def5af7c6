/** An account that a block touched: what the traces say of it, and what must be read from the node besides. */
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import {AccountTimeline} from "./accountTimeline.ts";
import {type AccountTrace, type AccountView, isDelegation, isEmpty} from "./accountTrace.ts";

/** An account as the node has it after a block. */
export interface AccountState {
  nonce: bigint;
  balance: bigint;
  /** Only if it was asked for. */
  code?: Uint8Array;
}

export class TouchedAccount {
  /** The code after the block is to be read. */
  readsCode = false;
  /** Nonce and balance after the block before must be read, because the traces do not show for certain that it was removed. */
  readsBefore = false;
  private readonly traces: AccountTrace[] = [];
  /** Slots that something outside of transactions may have written. Read after the block and after the block before. */
  readonly otherSlots = new Set<string>();

  /** Takes the trace of the next transaction. */
  add(trace: AccountTrace): void {
    const {before, after, slots} = trace;
    this.traces.push(trace);
    // In reth's stateDiff, a removed account may stand without any change.
    const isSilent = isUnknown(before) && isUnknown(after) && slots.size === 0;
    // In a stateDiff, an account without nonce is not marked as new.
    const isPoor = typeof before === "object" && before.balance === 0n && before.nonce === undefined;
    if (typeof before === "string" || after === "gone" || isSilent || isPoor) this.readsBefore = true;
    // The trace leaves out code that is empty after the transaction. So a delegation that ended looks unchanged.
    if (after === "gone" || isSilent || delegates(before) || delegates(after)) this.readsCode = true;
  }

  addSlot(slot: string): void {
    this.otherSlots.add(slot);
  }

  /** Slots whose values after the block are to be read. `0x` and 64 digits. */
  slotsToRead(): Set<string> {
    const open = new Set<string>();
    for (const {slots} of this.traces)
      for (const [slot, value] of slots)
        if (value === undefined) open.add(slot);
        else open.delete(slot);
    for (const slot of this.otherSlots) open.add(slot);
    return open;
  }

  /**
   * @param after - the state after the block, with code if `readsCode`, or if nonce and balance are 0
   * @param before - the state after the block before, if `readsBefore`
   * @param readSlot - the value of a slot of `slotsToRead`
   * @param readSlotBefore - the value of one of `otherSlots` after the block before
   */
  differ(
    address: Uint8Array,
    after: AccountState,
    before: AccountView | undefined,
    readSlot: (slot: string) => string,
    readSlotBefore: (slot: string) => string,
  ): AccountDifference {
    if (isEmpty(after)) return {address, change: undefined};
    const timeline = new AccountTimeline(before, this.traces);
    timeline.end(after);
    // The request queues are empty in most blocks. A slot that keeps its value is left out, because it would cost pages.
    // But if a trace has the slot, the value that was read replaces the trace's: the end of the block resets the counters.
    for (const slot of this.otherSlots)
      if (timeline.wasRemoved || timeline.slots.has(slot) || readSlot(slot) !== readSlotBefore(slot))
        timeline.slots.set(slot, readSlot(slot));
    return {
      address,
      change: {
        reset: timeline.wasRemoved,
        nonce: after.nonce,
        balance: after.balance,
        code: after.code ?? timeline.code,
        storage: [...timeline.slots].map(([slot, value]) => ({
          slot: fromHex(slot),
          value: fromHex(value ?? readSlot(slot)),
        })),
      },
    };
  }
}

function isUnknown(view: AccountView | string): boolean {
  return (
    typeof view === "object" &&
    view.nonce === undefined &&
    view.balance === undefined &&
    view.code === undefined
  );
}

function delegates(view: AccountView | string): boolean {
  return typeof view === "object" && view.code !== undefined && isDelegation(view.code);
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.slice(2), "hex");
}
