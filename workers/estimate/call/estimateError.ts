/** Why a call has no estimate, as the value that crosses to the server. */
import type {EstimateFailure} from "../../messages/failure.ts";

export class EstimateError extends Error {
  constructor(readonly failure: EstimateFailure) {
    super(failure.detail);
    this.name = "EstimateError";
  }
}

/** An OP stack has other precompiles and gas rules than Ethereum, a base fee of its own, and fees for layer 1. */
export function refuseOpStack(): EstimateError {
  const detail =
    "chain_estimateGas is not available: this is a chain of the OP stack, whose rules and fees this server does not " +
    "implement. Ask eth_estimateGas of the chain's own node, or start this server with --estimate-workers 0 and " +
    "--gateway URL of a node that answers chain_estimateGas";
  return new EstimateError({failure: "RULES_UNKNOWN", detail});
}

export function refuseSlices(): EstimateError {
  const detail =
    "chain_estimateGas is not available: this store has the state of some contracts only (--contracts). Ask a node " +
    "that has the whole state, or start this server with --estimate-workers 0 and --gateway URL of one";
  return new EstimateError({failure: "NOT_AVAILABLE", detail});
}

/** The call cannot be executed with success, for a reason that its caller can read. */
export function executionFailed(detail: string): EstimateError {
  return new EstimateError({failure: "EXECUTION_FAILED", detail});
}
