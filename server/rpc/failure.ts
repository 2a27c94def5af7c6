/** Turns a failure of the workers or the gateway (workers/messages/failure.ts) into its JSON-RPC error. */
import type {Failure} from "../../workers/messages/failure.ts";
import type {Head} from "../../workers/messages/head.ts";
import {encodeQuantity} from "./quantity.ts";
import {createBlockUnknownError, createPrunedError, RpcCode, RpcError} from "./rpcError.ts";

const NO_NODE = "there is no node to fetch it from, because this service follows none (--l2)";

/**
 * @param whyMissing - why slots could not be fetched
 * @returns undefined for a fault of this service, whose cause is logged and not told to the caller (troubleLog.ts)
 */
export function createFailureError(
  failure: Failure | undefined,
  head: Head,
  whyMissing = NO_NODE,
): RpcError | undefined {
  switch (failure?.failure) {
    case "BLOCK_UNKNOWN":
      return createBlockUnknownError("asked for", head);
    case "BLOCK_PRUNED":
      return createPrunedError(encodeQuantity(failure.block), failure.nearest, head);
    case "REVERTED":
      return new RpcError(RpcCode.EXECUTION_REVERTED, failure.detail, failure.data);
    case "CALL_INVALID":
      return new RpcError(RpcCode.INVALID_PARAMS, failure.detail);
    case "SLOTS_MISSING":
      return new RpcError(RpcCode.NOT_IN_SLICE, `${failure.detail}: ${whyMissing}`);
    case "LIMIT_EXCEEDED": {
      const {limit, got} = failure;
      return new RpcError(RpcCode.LIMIT_EXCEEDED, failure.detail, {limit, got});
    }
    case "EXECUTION_FAILED":
    case "NOT_IN_SLICE":
    case "NOT_AVAILABLE":
    case "RULES_UNKNOWN":
    case "UPSTREAM_DOWN":
      return new RpcError(RpcCode[failure.failure], failure.detail);
    case "DAMAGED":
    case "INTERNAL":
    case undefined:
      return undefined;
  }
}
