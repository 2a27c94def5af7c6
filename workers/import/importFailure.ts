/** Why an import ends, or refuses an order: told apart by code, and as text for the operator. */
import {StoreError} from "../../storage/errors.ts";
import {ExecutionError} from "../execution/errors.ts";
import {type SourceBlock, SourceError} from "./sourceBlock.ts";

/** Of an order: nothing was changed, and the import goes on. */
export function isRefusal(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === "BLOCK_UNKNOWN" || error.code === "FINALIZED");
}

/** No other write may follow. */
export function isWriteFailure(error: unknown): boolean {
  return error instanceof StoreError && error.code === "WRITE_FAILED";
}

/** What precedes the reason: lines have a number besides their block's. */
export function whereOf(at: SourceBlock): string {
  return "line" in at ? `line ${at.line}: ` : "";
}

/** With the stack where the failure was not expected. */
export function reasonOf(error: unknown): string {
  const isExpected =
    error instanceof StoreError || error instanceof SourceError || error instanceof ExecutionError;
  if (isExpected) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
