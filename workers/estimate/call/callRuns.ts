/** Runs of one call at one block, each with another gas limit, as a transaction in that block would run. None keeps its effects. */
import type {CallStart, RunResult} from "../../job/pausedEstimate.ts";

export interface CallRuns {
  readonly runs: number;
  readStart(): Promise<CallStart>;
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
