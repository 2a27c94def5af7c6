/**
 * Finds the least gas limit with which a call succeeds, to a tolerance (docs/gas.md, "gasLimit"). It takes as few runs
 * as possible, usually two.
 *
 *   low: fails   ......   high: succeeds          until (high - low) / high < tolerance
 */

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
export async function searchGasLimit(
  run: (gasLimit: bigint) => Promise<RunResult>,
  {upper, isPlainTransfer, tolerance}: GasSearch,
): Promise<bigint | RunResult> {
  const succeeds = async (gasLimit: bigint): Promise<boolean> => (await run(gasLimit)).failure === undefined;
  if (isPlainTransfer && upper >= PLAIN_TRANSFER_GAS && (await succeeds(PLAIN_TRANSFER_GAS)))
    return PLAIN_TRANSFER_GAS;
  const first = await run(upper);
  if (first.failure !== undefined) return first;
  const {spent, least, isBounded} = first;
  // The trace says it; it is run anyway. Where less may be enough in another way, that is looked at too.
  if (least !== undefined && (least >= upper || (await succeeds(least))))
    if (isBounded !== true || !(await succeeds(least - 1n))) return least < upper ? least : upper;
  if (spent >= upper || (await succeeds(spent))) return spent < upper ? spent : upper;
  let low = spent;
  let high = upper;
  const guess = ((spent + STIPEND) * ALL_PARTS) / PASSED_PARTS;
  if (guess < high) {
    if (await succeeds(guess)) high = guess;
    else low = guess;
  }
  while (high - low > 1n && Number(high - low) / Number(high) >= tolerance) {
    let middle = (low + high) / 2n;
    // Most calls need little more gas than they spend, so going up from there takes fewer runs than coming down.
    if (middle > low * 2n) middle = low * 2n;
    if (await succeeds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
