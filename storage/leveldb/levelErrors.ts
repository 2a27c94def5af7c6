/** Turns LevelDB's errors into StoreErrors. */
import {StoreError} from "../errors.ts";

/** The disk is full or read-only. */
const REFUSED_WRITE = /no space|quota exceeded|file too large|read-only/i;

/** An error for a read that LevelDB refused, or that was refused before LevelDB was asked. */
export function damaged(what: string, error: unknown): StoreError {
  if (error instanceof StoreError)
    return new StoreError(error.code, `${what}: ${error.message}`, {cause: error});
  return new StoreError(codeOf(error), `${what}: LevelDB says ${reason(error)}`, {cause: error});
}

/**
 * Every write is synced: LevelDB does not sync a full log when it starts the next one, and a log that is not the last
 * one must not have a torn end. @throws StoreError WRITE_FAILED
 */
export async function writeSynced(batch: {write(options: {sync: true}): Promise<void>}): Promise<void> {
  try {
    await batch.write({sync: true});
  } catch (error) {
    throw writeFailed(error);
  }
}

export function writeFailed(error: unknown): StoreError {
  return new StoreError("WRITE_FAILED", `LevelDB says ${reason(error)}`, {cause: error});
}

export function openFailed(directory: string, error: unknown): StoreError {
  if (isLocked(error)) return inUse(directory, error);
  const why = reason(error);
  const what = REFUSED_WRITE.test(why)
    ? "cannot be opened while its disk takes no writes: free space on it, or mount it writable"
    : "does not open";
  return new StoreError(codeOf(error), `${directory} ${what}: LevelDB says ${why}`, {cause: error});
}

export function inUse(directory: string, cause?: unknown): StoreError {
  return new StoreError("STORE_IN_USE", `${directory} is in use by another process`, {cause});
}

export function isLocked(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause)
    if ("code" in at && at.code === "LEVEL_LOCKED") return true;
  return false;
}

/** Refusals by the system do not mean that the files are damaged. */
function codeOf(error: unknown): "STORE_UNREADABLE" | "STORE_DAMAGED" {
  const why = reason(error);
  return REFUSED_WRITE.test(why) || /permission denied|too many open files|not open/i.test(why)
    ? "STORE_UNREADABLE"
    : "STORE_DAMAGED";
}

/** The innermost message: what LevelDB itself said. */
function reason(error: unknown): string {
  let message = String(error);
  for (let at = error; at instanceof Error; at = at.cause) message = at.message;
  return message;
}
