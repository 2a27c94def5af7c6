/** Why a call has no estimate. */
import {CallFailure} from "../../messages/failure.ts";

/** An OP stack has other precompiles and gas rules than Ethereum, a base fee of its own, and fees for layer 1. */
export function refuseOpStack(): CallFailure {
  const detail =
    "chain_estimateGas is not available: this is a chain of the OP stack, whose rules and fees this server does not " +
    "implement. Ask eth_estimateGas of the chain's own node, or start this server with --estimate-workers 0 and " +
    "--gateway URL of a node that answers chain_estimateGas";
  return new CallFailure({failure: "RULES_UNKNOWN", detail});
}

export function refuseSlices(): CallFailure {
  const detail =
    "chain_estimateGas is not available: this store has the state of some contracts only (--contracts). Ask a node " +
    "that has the whole state, or start this server with --estimate-workers 0 and --gateway URL of one";
  return new CallFailure({failure: "NOT_AVAILABLE", detail});
}

/** The call cannot be executed with success, for a reason that its caller can read. */
export function executionFailed(detail: string): CallFailure {
  return new CallFailure({failure: "EXECUTION_FAILED", detail});
}
