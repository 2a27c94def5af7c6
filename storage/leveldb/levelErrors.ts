/**
 * Turns LevelDB's errors into StoreErrors.
 */
import {StoreError} from "../errors.ts";

/** An error for a read that LevelDB refused, or that was refused before LevelDB was asked. */
export function damaged(what: string, error: unknown): StoreError {
  if (error instanceof StoreError)
    return new StoreError(error.code, `${what}: ${error.message}`, {cause: error});
  return new StoreError(codeOf(error), `${what}: LevelDB says ${reason(error)}`, {cause: error});
}

/** An error for a write that LevelDB refused. */
export function writeFailed(error: unknown): StoreError {
  return new StoreError("WRITE_FAILED", `LevelDB says ${reason(error)}`, {cause: error});
}

/** An error for a store that LevelDB did not open. */
export function openFailed(directory: string, error: unknown): StoreError {
  if (isLocked(error)) return inUse(directory, error);
  return new StoreError(codeOf(error), `${directory} does not open: LevelDB says ${reason(error)}`, {
    cause: error,
  });
}

export function inUse(directory: string, cause?: unknown): StoreError {
  return new StoreError("STORE_IN_USE", `${directory} is in use by another process`, {cause});
}

/** Did LevelDB refuse to open because another process has its lock? */
export function isLocked(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === "LEVEL_LOCKED") return true;
  return false;
}

/** Did the disk refuse to be written: is it full, or read-only? Then what it holds can still be read. */
export function isWriteRefusal(error: unknown): error is StoreError {
  return (
    error instanceof StoreError &&
    /no space|ENOSPC|quota exceeded|EDQUOT|file too large|EFBIG|read-only|EROFS/i.test(error.message)
  );
}

/** Refusals by the system do not mean that the files are damaged. */
function codeOf(error: unknown): "STORE_UNREADABLE" | "STORE_DAMAGED" {
  return /permission denied|too many open files|no space|quota exceeded|file too large|read-only|not open/i.test(
    reason(error),
  )
    ? "STORE_UNREADABLE"
    : "STORE_DAMAGED";
}

/** The innermost message: what LevelDB itself said. */
function reason(error: unknown): string {
  let message = String(error);
  for (let at = error; at instanceof Error; at = at.cause) message = at.message;
  return message;
}
