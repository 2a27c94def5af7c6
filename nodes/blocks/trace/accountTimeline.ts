/**
 * What happened to one account during a block.
 *
 *   block before, if asked for  ->  trace, trace, ...  ->  state after the block
 *   nonce 1                         made, nonce 1          nonce 1                   it was removed before it was made
 *
 * Traces alone do not show whether an account was removed in between. geth also reports a removal if the call with the
 * SELFDESTRUCT was reverted, and reth does not report every removal. But unless an account is removed, its nonce never
 * decreases and a contract keeps its code. So a lower nonce, or code that disappears, proves a removal.
 */
import {type AccountTrace, type AccountView, isDelegation} from "./accountTrace.ts";

export class AccountTimeline {
  /** The account was removed. There may be a new one at its address now. */
  wasRemoved = false;
  /** Slots written since then. Values that the traces do not give are undefined. */
  readonly slots = new Map<string, string | undefined>();
  /** From the traces; undefined if they do not give it. */
  code: Uint8Array | undefined;
  /** The last known state. The nonce is 0 if it is unknown. */
  private nonce = 0n;
  private balance: bigint | undefined;
  private isContract = false;
  private isReportedRemoved = false;

  constructor(stateBefore: AccountView | undefined, traces: readonly AccountTrace[]) {
    if (stateBefore !== undefined) this.note(stateBefore);
    for (const trace of traces) this.add(trace);
  }

  /** Compares with the state after the block. */
  end({nonce = 0n, code}: AccountView): void {
    if (nonce < this.nonce || (this.isContract && code?.length === 0)) this.remove();
  }

  private add({before, after, slots}: AccountTrace): void {
    if (this.wasRemovedBefore(before)) this.remove();
    // A contract can only be created where there is no storage.
    if (before === "created") this.slots.clear();
    if (typeof before === "object") this.note(before);
    this.isReportedRemoved = after === "removed";
    if (after === "removed") this.balance = undefined;
    else this.note(after);
    if (typeof after === "object" && after.code !== undefined) this.code = after.code;
    for (const [slot, value] of slots) this.slots.set(slot, value);
  }

  private wasRemovedBefore(now: AccountTrace["before"]): boolean {
    if (typeof now === "object") {
      const {nonce, balance, code} = now;
      if (nonce !== undefined && nonce < this.nonce) return true;
      if (this.isContract && code?.length === 0) return true;
      return balance === 0n && this.balance !== undefined && this.balance > 0n;
    }
    if (this.nonce > 0n || this.isContract || this.isReportedRemoved) return true;
    return now === "absent" && this.balance !== undefined && this.balance > 0n;
  }

  private note({nonce, balance, code}: AccountView): void {
    if (nonce !== undefined && nonce > this.nonce) this.nonce = nonce;
    if (balance !== undefined) this.balance = balance;
    if (code !== undefined && code.length > 0 && !isDelegation(code)) this.isContract = true;
  }

  private remove(): void {
    this.wasRemoved = true;
    this.slots.clear();
    this.code = new Uint8Array(0);
    this.nonce = 0n;
    this.balance = undefined;
    this.isContract = false;
  }
}
