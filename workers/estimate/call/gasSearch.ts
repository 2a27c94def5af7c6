/**
 * Finds the least gas limit with which a call succeeds, to a tolerance (docs/gas.md, "gasLimit"). It takes as few runs
 * as possible, usually two.
 *
 *   low: fails   ......   high: succeeds          until (high - low) / high < tolerance
 */

import type {Waits} from "../../../evm/interpreter/waits.ts";
import {PLAIN_TRANSFER_GAS} from "./callTransaction.ts";
import type {RunResult} from "./evmRuns.ts";

export interface GasSearch {
  readonly upper: bigint;
  /** Try the gas of a plain transfer first. */
  readonly isPlainTransfer: boolean;
  /** 0 <= tolerance < 1; 0 is exact. */
  readonly tolerance: number;
}

/** The stipend that a call with value leaves to its callee, and the share of gas that a call may pass on (EIP-150). */
const STIPEND = 2300n;
const ALL_PARTS = 64n;
const PASSED_PARTS = 63n;

/** @returns the limit, or the run at the upper bound if that run failed */
export function* searchGasLimit(
  run: (gasLimit: bigint) => Waits<RunResult>,
  {upper, isPlainTransfer, tolerance}: GasSearch,
): Waits<bigint | RunResult> {
  if (isPlainTransfer && upper >= PLAIN_TRANSFER_GAS && succeeded(yield* run(PLAIN_TRANSFER_GAS)))
    return PLAIN_TRANSFER_GAS;
  const first = yield* run(upper);
  if (first.failure !== undefined) return first;
  const {spent, least, isBounded} = first;
  // The trace says it; it is run anyway. Where less may be enough in another way, that is looked at too.
  if (least !== undefined && (least >= upper || succeeded(yield* run(least))))
    if (isBounded !== true || !succeeded(yield* run(least - 1n))) return least < upper ? least : upper;
  if (spent >= upper || succeeded(yield* run(spent))) return spent < upper ? spent : upper;
  let low = spent;
  let high = upper;
  const guess = ((spent + STIPEND) * ALL_PARTS) / PASSED_PARTS;
  if (guess < high) {
    if (succeeded(yield* run(guess))) high = guess;
    else low = guess;
  }
  while (high - low > 1n && Number(high - low) / Number(high) >= tolerance) {
    let middle = (low + high) / 2n;
    // Most calls need little more gas than they spend, so going up from there takes fewer runs than coming down.
    if (middle > low * 2n) middle = low * 2n;
    if (succeeded(yield* run(middle))) high = middle;
    else low = middle;
  }
  return high;
}

function succeeded({failure}: RunResult): boolean {
  return failure === undefined;
}
