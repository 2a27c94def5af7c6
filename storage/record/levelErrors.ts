/**
 * LevelDB's errors as the store's own.
 */
import {StoreError} from "../errors.ts";

/** A read that LevelDB refused. */
export function damaged(what: string, error: unknown): StoreError {
  return new StoreError("STORE_DAMAGED", `${what}: LevelDB says ${reason(error)}`, {cause: error});
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
  return new StoreError("STORE_DAMAGED", `${directory} does not open: LevelDB says ${reason(error)}`, {
    cause: error,
  });
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
