/** A call that is run once, as nodes answer eth_call: it pays only if it names a price (EvmRuns: its nonce does not count). */
import type {Evm} from "../../../evm/interpreter/evm.ts";
import type {Waits} from "../../../evm/interpreter/waits.ts";
import {toHex} from "../../../storage/hex.ts";
import type {EstimateCall} from "../../messages/estimateCall.ts";
import type {BlockRules} from "../blockRules.ts";
import {feeOf} from "./callTransaction.ts";
import type {Deadline} from "./deadline.ts";
import {executionFailed} from "./estimateError.ts";
import {EvmRuns, override, type RunResult, ZERO_ADDRESS} from "./evmRuns.ts";
import {checkFeeCap} from "./senderBounds.ts";

/**
 * @param evm - on the block's state, which it has again afterwards, with the overrides. @param gasCap - of the call's gas
 * @throws CallFailure EXECUTION_FAILED if the sender cannot pay; as EvmRuns.run
 */
export function* runCall(
  evm: Evm,
  call: EstimateCall,
  rules: BlockRules,
  gasCap: bigint,
  deadline: Deadline,
): Waits<RunResult> {
  const {price, cap} = feeOf(call, rules.baseFee);
  // As in geth, code sees no base fee that the price does not cover.
  evm.setBlock(rules.evmRules, price === 0n ? rules.freeEvmBlock : rules.evmBlock);
  if (call.overrides !== undefined) yield* override(evm, call.overrides, deadline);
  const from = call.from ?? ZERO_ADDRESS;
  const gas = call.gas === undefined || call.gas > gasCap ? gasCap : call.gas;
  if (cap > 0n) checkFeeCap(cap, rules);
  const [has, needs] = [evm.readBalance(from), gas * cap + call.value];
  if (has < needs)
    throw executionFailed(
      `insufficient funds for gas * price + value: address ${toHex(from)} have ${has} want ${needs}`,
    );
  return yield* new EvmRuns(call, evm, rules, price, deadline).run(gas);
}
