/**
 * An empty file OPEN, which is in the store's directory while a process may write there. It stays behind if the process was
 * killed, lost its power, or was ended by LevelDB over a damaged table, and on a disk that can no longer be written. Then
 * tables are verified whole before LevelDB opens the store again.
 */
import {closeSync, existsSync, openSync, rmSync} from "node:fs";
import {join} from "node:path";
import {StoreError} from "../errors.ts";

const OPEN_FILE = "OPEN";

export function isMarkedOpen(directory: string): boolean {
  return existsSync(join(directory, OPEN_FILE));
}

/** @throws StoreError STORE_UNREADABLE if the file cannot be created */
export function markOpen(directory: string): void {
  try {
    closeSync(openSync(join(directory, OPEN_FILE), "w"));
  } catch (error) {
    const reason = (error as Error).message;
    throw new StoreError("STORE_UNREADABLE", `${directory} cannot be written: ${reason}`, {cause: error});
  }
}

/** Leaves the file where the disk refuses to remove it: the store is closed all the same. */
export function markClosed(directory: string): void {
  try {
    rmSync(join(directory, OPEN_FILE), {force: true});
  } catch {
    // The tables of a disk that refuses are worth verifying.
  }
}
