/** What a call's sender, block and settings allow, before anything is executed. */
import type {EstimateCall} from "../../messages/estimateCall.ts";
import type {BlockRules} from "../blockRules.ts";
import {PLAIN_TRANSFER_GAS} from "./callTransaction.ts";
import {executionFailed} from "./estimateError.ts";

/** EIP-7825. */
const MAX_TRANSACTION_GAS = 1n << 24n;
/** EIP-2681. */
const MAX_NONCE = 2n ** 64n - 1n;

interface GasBounds {
  readonly block: BlockRules;
  readonly gasCap: bigint;
  /** Wei per gas: the most that the call would pay. 0 if it names no fee. */
  readonly feeCap: bigint;
  /** The sender's balance, wei. */
  readonly balance: bigint;
}

/** @param next - the sender's nonce. @throws CallFailure EXECUTION_FAILED */
export function checkNonce({nonce}: EstimateCall, next: bigint): void {
  if (next >= MAX_NONCE)
    throw executionFailed(
      `nonce has max value: the sender's nonce is ${next} (2^64 - 1), with which no transaction can be sent (EIP-2681)`,
    );
  if (nonce !== undefined && nonce < next)
    throw executionFailed(`nonce too low: the sender's next nonce is ${next}, the call has ${nonce}`);
}

/** @returns the highest gas limit that may be tried. @throws CallFailure EXECUTION_FAILED */
export function upperBound(call: EstimateCall, bounds: GasBounds): bigint {
  const {block, gasCap, feeCap, balance} = bounds;
  if (balance < call.value)
    throw executionFailed(
      `insufficient funds for transfer: the sender has ${balance} wei, the value is ${call.value}`,
    );
  // As geth and Besu do: clients send less for "no limit".
  const hasLimit = call.gas !== undefined && call.gas >= PLAIN_TRANSFER_GAS;
  let upper = smaller(hasLimit ? call.gas : block.evmBlock.gasLimit, gasCap);
  if (block.rules.isOsaka) upper = smaller(upper, MAX_TRANSACTION_GAS);
  if (feeCap === 0n) return upper;
  checkFeeCap(feeCap, block);
  if (call.from === undefined) return upper;
  const affordable = (balance - call.value) / feeCap;
  if (affordable < PLAIN_TRANSFER_GAS)
    throw executionFailed(
      `insufficient funds for gas * price + value: the sender has ${balance} wei, which pays for ${affordable} gas`,
    );
  return smaller(upper, affordable);
}

/** @param feeCap - above 0. @throws CallFailure EXECUTION_FAILED */
export function checkFeeCap(feeCap: bigint, {baseFee = 0n}: Pick<BlockRules, "baseFee">): void {
  if (feeCap >= baseFee) return;
  throw executionFailed(
    `max fee per gas less than block base fee: the call pays at most ${feeCap} wei, the base fee is ${baseFee}`,
  );
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
