/** Why a call has no estimate, or cannot be run. */
import type {EstimateCall} from "../../messages/estimateCall.ts";
import {CallFailure} from "../../messages/failure.ts";

type NamedCall = Pick<EstimateCall, "method">;

/** @param reason - what the store or this server lacks */
export function notAvailable(call: NamedCall, reason: string): CallFailure {
  return new CallFailure({failure: "NOT_AVAILABLE", detail: describe(call, reason)});
}

/** An OP stack has other precompiles and gas rules than Ethereum, a base fee of its own, and fees for layer 1. */
export function refuseOpStack(call: NamedCall): CallFailure {
  const reason =
    "this is a chain of the OP stack, whose rules and fees this server does not implement. Ask the chain's own node " +
    "for eth_call or eth_estimateGas, or start this server with --gateway URL of that node";
  return new CallFailure({failure: "RULES_UNKNOWN", detail: describe(call, reason)});
}

export function refuseSlices(call: NamedCall): CallFailure {
  return notAvailable(
    call,
    "this store has the state of some contracts only (--contracts). Ask a node that has the whole state for eth_call " +
      "or eth_estimateGas, or start this server with --gateway URL of one",
  );
}

function describe({method = "chain_estimateGas"}: NamedCall, reason: string): string {
  return `${method} is not available: ${reason}`;
}

/** The call cannot be executed with success, for a reason that its caller can read. */
export function executionFailed(detail: string): CallFailure {
  return new CallFailure({failure: "EXECUTION_FAILED", detail});
}
