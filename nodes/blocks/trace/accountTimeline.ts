/**
 * What happened to one account during a block.
 *
 *   block before, if asked for  ->  trace, trace, ...  ->  state after the block
 *   nonce 1                         made, nonce 1          nonce 1                   it was removed before it was made
 *
 * The traces alone do not tell whether an account was removed in between. geth also reports a removal if the call with
 * the SELFDESTRUCT was reverted, and reth does not report every removal. But a nonce never falls and a contract's code
 * never goes away, unless the account was removed. So a nonce that falls, or code that goes away, shows a removal.
 */
import {type AccountTrace, type AccountView, isDelegation} from "./accountTrace.ts";

export class AccountTimeline {
  /** It was removed. There may be a new account at its address now. */
  wasRemoved = false;
  /** Written since then. Values that the traces leave open are undefined. */
  readonly slots = new Map<string, string | undefined>();
  /** As the traces say; undefined if they say nothing. */
  code: Uint8Array | undefined;
  /** The last states known. The nonce is 0 if it is not known. */
  private nonce = 0n;
  private balance: bigint | undefined;
  private isContract = false;
  /** The last trace says that it was removed. */
  private isSaidGone = false;

  constructor(stateBefore: AccountView | undefined, traces: readonly AccountTrace[]) {
    if (stateBefore !== undefined) this.note(stateBefore);
    for (const trace of traces) this.add(trace);
  }

  /** Concludes from the state after the block. */
  end({nonce = 0n, code}: AccountView): void {
    if (nonce < this.nonce || (this.isContract && code?.length === 0)) this.remove();
  }

  private add({before, after, slots}: AccountTrace): void {
    if (this.wasRemovedBefore(before)) this.remove();
    // A contract can only be made where there is no storage.
    if (before === "unseen") this.slots.clear();
    if (typeof before === "object") this.note(before);
    this.isSaidGone = after === "gone";
    if (after === "gone") this.balance = undefined;
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
    if (this.nonce > 0n || this.isContract || this.isSaidGone) return true;
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
