/**
 * An account that a block touched: what the traces of its transactions say about it, one after the other.
 *
 *   trace 0, 1, ...  -->  which slots, which code; was it removed in between?
 *   state after the block (read back)  -->  nonce, balance, and all that the traces leave open
 *
 * Whether an account was removed is decided by what is seen of it later, not by the trace that says so. geth reports a removal
 * also if the call with the SELFDESTRUCT was reverted, and reth does not report every removal. But a nonce never falls and
 * code (other than a delegation) never goes away, unless the account was removed.
 */
import type {AccountDifference} from "../../../storage/block/accountDifference.ts";
import {type AccountTrace, type AccountView, isEmpty} from "./accountTrace.ts";

/** An account as the node has it after the block. */
export interface AccountState {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** Only if it was asked for. */
  readonly code?: Uint8Array;
}

/** EIP-7702: the code of an account that delegates to another one begins so. Contracts cannot have such code (EIP-3541). */
const DELEGATION = Buffer.from("ef0100", "hex");

export class TouchedAccount {
  /** Slots with their values after the block. undefined: to be read. */
  readonly slots = new Map<string, string | undefined>();
  /** The code after the block is to be read. */
  readsCode = false;
  private firstBefore: AccountTrace["before"] | undefined;
  private code: Uint8Array | undefined;
  private wasRemoved = false;
  /** The newest trace says that it was removed. */
  private isDoubtful = false;
  /** The highest nonce seen since the last removal. */
  private nonce = 0n;
  private hasCode = false;

  /**
   * It was not there before the first transaction that touched it. If the block before has it, it was removed in between, and no
   * trace says so.
   */
  get seemsNew(): boolean {
    return this.firstBefore === "absent";
  }

  /** Takes the trace of the next transaction. */
  add({before, after, slots}: AccountTrace): void {
    this.firstBefore ??= before;
    if (this.wasGone(before)) this.remove();
    this.isDoubtful = after === "gone";
    if (typeof before === "object") this.note(before);
    if (after === "gone") this.readsCode = true;
    else {
      this.note(after);
      if (after.code !== undefined) this.code = after.code;
    }
    for (const [slot, value] of slots) this.slots.set(slot, after === "gone" ? undefined : value);
  }

  /** A slot that something outside of transactions may have written. */
  addSlot(slot: string): void {
    this.slots.set(slot, undefined);
  }

  /**
   * @param state - after the block, with code if `readsCode`, or if nonce and balance are 0
   * @param readSlot - the value of a slot whose value is undefined
   * @param existedBefore - whether the block before has the account; asked for only if `seemsNew`
   */
  differ(
    address: Uint8Array,
    state: AccountState,
    readSlot: (slot: string) => string,
    existedBefore: boolean,
  ): AccountDifference {
    if (isEmpty(state)) return {address, change: undefined};
    if (this.wasGone(state)) this.remove();
    const code = state.code ?? this.code;
    return {
      address,
      change: {
        reset: this.wasRemoved || (this.seemsNew && existedBefore),
        nonce: state.nonce,
        balance: state.balance,
        ...(code !== undefined && {code}),
        storage: [...this.slots].map(([slot, value]) => ({
          slot: fromHex(slot),
          value: fromHex(value ?? readSlot(slot)),
        })),
      },
    };
  }

  /** Was the account removed since the last trace, if it now looks like this? */
  private wasGone(now: AccountTrace["before"]): boolean {
    if (this.nonce === 0n && !this.hasCode && !this.isDoubtful) return false;
    if (typeof now === "string") return true;
    const {nonce, code} = now;
    if (nonce !== undefined && nonce < this.nonce) return true;
    return this.hasCode && code !== undefined && code.length === 0;
  }

  private note({nonce, code}: AccountView): void {
    if (nonce !== undefined && nonce > this.nonce) this.nonce = nonce;
    if (code === undefined || code.length === 0) return;
    // Tracers leave code out that is empty after the transaction. So the end of a delegation looks like no change.
    if (isDelegation(code)) this.readsCode = true;
    else this.hasCode = true;
  }

  private remove(): void {
    this.wasRemoved = true;
    this.slots.clear();
    this.code = undefined;
    this.readsCode = true;
    this.nonce = 0n;
    this.hasCode = false;
  }
}

function isDelegation(code: Uint8Array): boolean {
  return Buffer.compare(code.subarray(0, DELEGATION.length), DELEGATION) === 0;
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.slice(2), "hex");
}
