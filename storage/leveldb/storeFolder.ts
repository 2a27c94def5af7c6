/**
 * The folder of a store: is it there, who makes it, and what is taken away again.
 *
 * Not mkdir's own recursion, also LevelDB's: where a file system takes no folders and says "no such file" (/proc), it tries
 * for ever, on a thread that nothing can stop.
 */
import {existsSync, mkdirSync, readdirSync, rmdirSync, statSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {Level} from "level";
import {StoreError} from "../errors.ts";
import {NOTE_FILE} from "./acknowledgedNote.ts";

/**
 * The folders from the uppermost one that is missing down to `directory`; empty if it is there.
 *
 * @throws StoreError STORE_UNREADABLE if it, or one above it, is not a folder or cannot be looked at
 */
export function missingFolders(directory: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(directory); !isFolder(at); at = dirname(at)) {
    if (dirname(at) === at) throw new StoreError("STORE_UNREADABLE", `${at} is not there`);
    missing.unshift(at);
  }
  return missing;
}

/** @param folders - as `missingFolders` gives them. @throws StoreError STORE_UNREADABLE */
export function makeFolders(folders: readonly string[]): void {
  for (const folder of folders) {
    try {
      mkdirSync(folder);
    } catch (error) {
      const {code, message} = error as NodeJS.ErrnoException;
      if (code === "EEXIST" && isFolder(folder)) continue;
      const reason = code === "ENOENT" ? `the file system of ${dirname(folder)} takes no folders` : message;
      throw new StoreError("STORE_UNREADABLE", `cannot make the folder ${folder}: ${reason}`, {cause: error});
    }
  }
}

/**
 * Looks before LevelDB does: it would make files in whatever directory it is given.
 *
 * @throws StoreError STORE_MISSING, STORE_DAMAGED
 */
export function refuseForeignDirectory(directory: string, create: boolean): void {
  if (existsSync(join(directory, "CURRENT"))) return;
  const files = existsSync(directory) ? readdirSync(directory) : [];
  // The first manifest is written just before CURRENT: a crash between the two leaves it, and nothing is lost.
  if (files.some(name => name === NOTE_FILE || /^(\d+\.(ldb|log)|MANIFEST-(?!000001$).*)$/.test(name)))
    throw new StoreError("STORE_DAMAGED", `${directory} holds a store without its CURRENT file`);
  if (!create) throw new StoreError("STORE_MISSING", `${directory} holds no store`);
  const foreign = files.find(name => !/^(LOCK|LOG|LOG\.old|MANIFEST-000001|\d+\.dbtmp)$/.test(name));
  if (foreign !== undefined)
    throw new StoreError(
      "STORE_MISSING",
      `${directory} holds no store, and is not empty (it has ${foreign}): a new store needs an empty directory`,
    );
}

/**
 * Takes away a closed store, and of the folders that were made for it those that are empty then.
 *
 * LevelDB removes its files under its lock, so that a process that opens the store meanwhile keeps it.
 */
export async function removeStore(directory: string, madeFolders: readonly string[]): Promise<void> {
  const {mode} = statSync(directory);
  try {
    await destroy(directory);
  } catch {
    return; // another process has it open
  }
  if (madeFolders.length === 0) {
    // It was there before, and LevelDB has removed it too.
    if (!isFolder(directory)) mkdirSync(directory, {mode});
    return;
  }
  for (const folder of madeFolders.toReversed()) {
    try {
      if (isFolder(folder)) rmdirSync(folder);
    } catch {
      return; // somebody has put something there meanwhile
    }
  }
}

/** classic-level's, which is what Level is here, and its types do not say. */
const {destroy} = Level as unknown as {destroy(directory: string): Promise<void>};

function isFolder(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true;
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    // Below a file: that one is named when the search comes to it.
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new StoreError("STORE_UNREADABLE", `cannot look at ${path}: ${message}`, {cause: error});
  }
  throw new StoreError("STORE_UNREADABLE", `${path} is not a folder`);
}
