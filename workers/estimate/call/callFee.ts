/** What a call says it pays per gas, under the block's base fee. */
import type {EstimateCall} from "../../job/estimateCall.ts";

/** Wei per gas; both 0 where the call names no fee. */
export interface CallFee {
  /** What is paid, and what GASPRICE gives. */
  readonly price: bigint;
  /** The most that would be paid: the balance must hold it. */
  readonly cap: bigint;
}

/** @param baseFee - undefined before london */
export function feeOf(call: EstimateCall, baseFee: bigint | undefined): CallFee {
  const {gasPrice, maxFeePerGas, maxPriorityFeePerGas} = call;
  if (maxFeePerGas === undefined && maxPriorityFeePerGas === undefined)
    return {price: gasPrice ?? 0n, cap: gasPrice ?? 0n};
  const wanted = (baseFee ?? 0n) + (maxPriorityFeePerGas ?? 0n);
  const cap = maxFeePerGas ?? wanted;
  return {price: wanted < cap ? wanted : cap, cap};
}
