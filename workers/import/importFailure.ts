/** Why an import ends, or refuses a command: by error code, and as text for the operator. */
import {ExecutionError} from "../../evm/execution/executionError.ts";
import {SettingsFault, SourceError} from "../../nodes/blocks/sourceStep.ts";
import {FeedError} from "../../nodes/feed/feedError.ts";
import {NodeFailure, NodeRefusal} from "../../nodes/rpc/node.ts";
import {StoreError, type StoreErrorCode} from "../../storage/errors.ts";

const REFUSALS: readonly StoreErrorCode[] = [
  "BLOCK_UNKNOWN",
  "BLOCK_PRUNED",
  "FINALIZED",
  "FINALITY_CONFLICT",
];

const EXPECTED = [StoreError, SourceError, ExecutionError, NodeRefusal, NodeFailure, FeedError] as const;

/** The command was refused: nothing was changed, and the import continues. */
export function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && REFUSALS.includes(error.code);
}

/** No other write may follow. */
export function isWriteFailure(error: unknown): boolean {
  return error instanceof StoreError && error.code === "WRITE_FAILED";
}

/** No other attempt can succeed, unless the operator changes something. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof SettingsFault ||
    (error instanceof ExecutionError && error.code === "GENESIS_INVALID") ||
    (error instanceof StoreError && error.code === "FORMAT_MISMATCH")
  );
}

/** The reason as text, with the stack if the failure was not expected. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPECTED.some(kind => error instanceof kind) ? error.message : (error.stack ?? error.message);
}
