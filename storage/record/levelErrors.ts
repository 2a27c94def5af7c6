/**
 * LevelDB's errors as the store's own.
 */
import {StoreError} from "../errors.ts";

/** A read that LevelDB refused. */
export function damaged(what: string, error: unknown): StoreError {
  return new StoreError(codeOf(error), `${what}: LevelDB says ${reason(error)}`, {cause: error});
}

/** A write that LevelDB refused. */
export function writeFailed(error: unknown): StoreError {
  return new StoreError("WRITE_FAILED", `LevelDB says ${reason(error)}`, {cause: error});
}

/** An open that LevelDB refused. */
export function openFailed(directory: string, error: unknown): StoreError {
  const code = causeCode(error);
  if (code === "LEVEL_LOCKED")
    return new StoreError("STORE_IN_USE", `${directory} is in use by another process`, {cause: error});
  return new StoreError(codeOf(error), `${directory} does not open: LevelDB says ${reason(error)}`, {
    cause: error,
  });
}

/** What the machine refuses is no damage to the files. */
function codeOf(error: unknown): "STORE_UNREADABLE" | "STORE_DAMAGED" {
  return /permission denied|too many open files|no space|read-only|not open/i.test(reason(error))
    ? "STORE_UNREADABLE"
    : "STORE_DAMAGED";
}

function causeCode(error: unknown): unknown {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === "LEVEL_LOCKED") return at.code;
  return undefined;
}

/** The innermost message: what LevelDB itself said. */
function reason(error: unknown): string {
  let message = String(error);
  for (let at = error; at instanceof Error; at = at.cause) message = at.message;
  return message;
}
