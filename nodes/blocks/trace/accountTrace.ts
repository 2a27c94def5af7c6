/** The trace of one account in one transaction, independent of the tracer. */
import type {AccountChange} from "../../../storage/block/accountDifference.ts";

/** Fields that the trace does not have are undefined. */
export type AccountView = Pick<AccountChange, "nonce" | "balance" | "code">;

export interface AccountTrace {
  /** Before the transaction. `created`: by it. Tracers then leave out the state before, perhaps a balance. */
  readonly before: AccountView | "absent" | "created";
  /** After the transaction. `removed`: the trace reports a removal. Some tracers also do so for accounts that stay. */
  readonly after: AccountView | "removed";
  /** Slots (`0x` and 64 digits) with their values after it. undefined: the trace does not have the value. */
  readonly slots: ReadonlyMap<string, string | undefined>;
  /** The code changed, and the trace does not have the new code. */
  readonly hidesCode?: boolean;
}

/** The traces of one transaction, by address (`0x` and 40 digits in lower case). */
export interface TransactionTrace {
  /** `0x` and 64 digits in lower case; undefined if the node does not send it. */
  readonly hash: string | undefined;
  readonly accounts: ReadonlyMap<string, AccountTrace>;
}

/** Far more than any chain allows (24 576 bytes on Ethereum). */
export const MAX_CODE_BYTES = 1 << 20;

/** EIP-161: such an account does not exist. */
export function isEmpty({nonce = 0n, balance = 0n, code}: AccountView): boolean {
  return nonce === 0n && balance === 0n && (code === undefined || code.length === 0);
}

/** The prefix of the code of a delegating account (EIP-7702). Contracts cannot have such code (EIP-3541). */
const DELEGATION = Buffer.from("ef0100", "hex");

export function isDelegation(code: Uint8Array): boolean {
  return Buffer.compare(code.subarray(0, DELEGATION.length), DELEGATION) === 0;
}
