/** Why a call has no estimate, as the value that crosses to the server. */
import type {EstimateFailure} from "../../messages/failure.ts";

export class EstimateError extends Error {
  constructor(readonly failure: EstimateFailure) {
    super(failure.detail);
    this.name = "EstimateError";
  }
}

/** The call cannot be executed with success, for a reason that its caller can read. */
export function executionFailed(detail: string): EstimateError {
  return new EstimateError({failure: "EXECUTION_FAILED", detail});
}
