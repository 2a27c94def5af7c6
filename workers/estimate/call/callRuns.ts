/** Runs of one call at one block, each with another gas limit, as a transaction in that block would run. None keeps its effects. */

export interface RunResult {
  /** undefined: the call succeeded. */
  readonly failure: RunFailure | undefined;
  readonly returned: Uint8Array;
  /** Gas taken before refunds, at least the floor. No lower gas limit is enough. */
  readonly spent: bigint;
  /** The least gas limit with which all happens as it did. undefined: only more runs tell. */
  readonly least?: bigint | undefined;
  /** With less than `least` the call may succeed too, in another way. */
  readonly isBounded?: boolean;
}

interface RunFailure {
  readonly kind: "revert" | "outOfGas" | "intrinsic" | "other";
  readonly reason: string;
}

export interface CallRuns {
  readonly runs: number;
  readSender(): Promise<{readonly nonce: bigint; readonly balance: bigint}>;
  /** True if the call has no data and its receiver has nothing that could run. */
  isPlainTransfer(): Promise<boolean>;
  /** @throws TimeLimitError, StoreError */
  run(gasLimit: bigint): Promise<RunResult>;
}

/** The sender of a call that names none: its balance and nonce count. */
export const ZERO_ADDRESS = new Uint8Array(20);

/** Under its least gas, a call is not run. */
export function tooLittleGas(minimum: bigint): RunResult {
  const reason = `the call takes ${minimum} gas before it executes anything`;
  return {failure: {kind: "intrinsic", reason}, returned: new Uint8Array(0), spent: minimum};
}
