/** What the trace of one transaction says about one account, whichever tracer wrote it. */

/** Fields that the trace does not give are undefined. */
export interface AccountView {
  readonly nonce?: bigint | undefined;
  readonly balance?: bigint | undefined;
  readonly code?: Uint8Array | undefined;
}

export interface AccountTrace {
  /**
   * Before the transaction. `absent`: there was no account. `unseen`: the transaction made the account. Tracers leave
   * out what was there before, so it may have had a balance.
   */
  readonly before: AccountView | "absent" | "unseen";
  /** After it. `gone`: the trace says that the account was removed. Some tracers say so of accounts that were not. */
  readonly after: AccountView | "gone";
  /**
   * Slots (`0x` and 64 digits) with their values after it, in the same form. undefined: the trace does not give the
   * value.
   */
  readonly slots: ReadonlyMap<string, string | undefined>;
  /** Its code is another one after it, and the trace does not give that. */
  readonly hidesCode?: boolean;
}

/** The traces of one transaction, by address (`0x` and 40 digits in lower case). */
export interface TransactionTrace {
  /** `0x` and 64 digits in lower case; undefined if the node does not say it. */
  readonly hash: string | undefined;
  readonly accounts: ReadonlyMap<string, AccountTrace>;
}

/** Far more than any chain allows (24 576 bytes on Ethereum). */
export const MAX_CODE_BYTES = 1 << 20;

/** EIP-161: such an account does not exist. */
export function isEmpty({nonce = 0n, balance = 0n, code}: AccountView): boolean {
  return nonce === 0n && balance === 0n && (code === undefined || code.length === 0);
}

/**
 * EIP-7702: the code of an account that delegates to another one begins so. Contracts cannot have such code (EIP-3541).
 */
const DELEGATION = Buffer.from("ef0100", "hex");

export function isDelegation(code: Uint8Array): boolean {
  return Buffer.compare(code.subarray(0, DELEGATION.length), DELEGATION) === 0;
}
