/** An estimate whose slice has ended (estimateSlices.ts). Any estimate thread can go on with it. */
import type {PausedRun} from "../evm/evm.ts";

/** How a run with some gas limit ended. */
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

/** What was read before the first run. */
export interface CallStart {
  readonly nonce: bigint;
  readonly balance: bigint;
  /** The call has no data, and its receiver has nothing that could run. */
  readonly isPlainTransfer: boolean;
}

/** The search is made again over the results of the runs that have ended. Then this run goes on. */
export interface PausedRuns {
  readonly start: CallStart;
  /** Without what they returned. */
  readonly results: readonly RunResult[];
  /** By place in the call's list: who signed, if anybody did. */
  readonly authorities: readonly (Uint8Array | undefined)[];
  readonly run: PausedRun;
  /** The state before this run. */
  readonly mark: number;
}

export interface PausedEstimate {
  /** Hash of the block. Another one may have its number by now. */
  readonly block: Uint8Array;
  /** What the slices took of the call's time. */
  readonly usedMs: number;
  readonly runs: PausedRuns;
  /** The state before the call's overrides. */
  readonly mark: number;
}

/** The memory of its EVM, which moves from thread to thread and is not copied. */
export function memoryOf({runs}: PausedEstimate): Uint8Array<ArrayBuffer> {
  return runs.run.instance.bytes;
}
