/** Explains to the caller why a call fails. */
import {toHex} from "../../../storage/hex.ts";
import {CallFailure} from "../../messages/failure.ts";
import {executionFailed} from "./estimateError.ts";
import type {RunResult} from "./evmRuns.ts";
import {decodeRevertReason} from "./revertReason.ts";

/** Longer revert data is not passed on. Even 4 KB is unusual; 32 KiB bounds the size of an answer. */
const MAX_REVERT_BYTES = 32 << 10;

/** Of an estimate. @param run - the run with the upper bound as its gas limit */
export function explainEstimate(run: RunResult, upper: bigint): CallFailure {
  const {failure} = run;
  switch (failure?.kind) {
    case "outOfGas":
      return executionFailed(`gas required exceeds allowance (${upper})`);
    case "intrinsic":
      return executionFailed(`${failure.reason}; at most ${upper} is allowed by gas, block, cap and funds`);
    default:
      return explainFailure(run);
  }
}

export function explainFailure({failure, returned}: RunResult): CallFailure {
  if (failure?.kind !== "revert") return executionFailed(failure?.reason ?? "failed");
  if (returned.length > MAX_REVERT_BYTES) {
    const [limit, got] = [MAX_REVERT_BYTES, returned.length];
    const detail = `revert data may have at most ${limit} bytes, this call's has ${got}`;
    return new CallFailure({failure: "LIMIT_EXCEEDED", detail, limit, got});
  }
  const reason = decodeRevertReason(returned);
  const detail = reason === undefined ? "execution reverted" : `execution reverted: ${reason}`;
  return new CallFailure({failure: "REVERTED", detail, data: toHex(returned)});
}
