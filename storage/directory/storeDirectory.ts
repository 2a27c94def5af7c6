/**
 * Creates, inspects and removes the directory of a store. Not with the recursive mkdir of Node or LevelDB: where a file
 * system answers "no such file" to new folders (/proc), these retry forever, on a thread that nothing can stop.
 */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {Level} from "level";
import {StoreError} from "../errors.ts";
import {kindOf} from "../regularFile.ts";
import {NOTE_FILE} from "./acknowledgedNote.ts";

const FIRST_MANIFEST = "MANIFEST-000001";

/** The missing folders on the path, uppermost first. @throws StoreError STORE_UNREADABLE if one is not a folder */
export function missingFolders(directory: string): string[] {
  const missing: string[] = [];
  for (let at = resolve(directory); !isFolder(at); at = dirname(at)) {
    if (dirname(at) === at) throw new StoreError("STORE_UNREADABLE", `${at} does not exist`);
    missing.unshift(at);
  }
  return missing;
}

/** @param folders - from `missingFolders`. @throws StoreError STORE_UNREADABLE */
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

/** Removes the remains of an interrupted creation. @throws StoreError STORE_MISSING, STORE_DAMAGED */
export function refuseForeignDirectory(directory: string, create: boolean): void {
  let files = isFolder(directory) ? readdirSync(directory) : [];
  requireFiles(directory, files);
  if (files.includes("CURRENT")) {
    if (!isUnfinished(directory, files)) return;
    if (create) for (const name of [...files.filter(isNumbered), "CURRENT"]) rmSync(join(directory, name));
    files = [];
  }
  // The first manifest is written just before CURRENT: a crash between them leaves the manifest, and loses nothing.
  if (
    files.some(name => name === NOTE_FILE || (isNumbered(name) && !/^(MANIFEST-000001|.*dbtmp)$/.test(name)))
  )
    throw new StoreError("STORE_DAMAGED", `${directory} holds a store without its CURRENT file`);
  if (!create) throw new StoreError("STORE_MISSING", `${directory} holds no store`);
  const foreign = files.find(name => !isNumbered(name) && !OTHER_FILE.test(name));
  if (foreign !== undefined)
    throw new StoreError(
      "STORE_MISSING",
      `${directory} holds no store, and is not empty (it has ${foreign}): a new store needs an empty directory`,
    );
}

/** In place of a file, LevelDB would wait forever for the writer of a pipe. */
function requireFiles(directory: string, files: readonly string[]): void {
  for (const name of files) {
    if (!(isNumbered(name) || OTHER_FILE.test(name) || name === NOTE_FILE)) continue;
    const stats = lookAt(join(directory, name));
    if (stats?.isFile() === false && !stats.isDirectory())
      throw new StoreError(
        "STORE_DAMAGED",
        `${directory} is damaged: ${name}: expected a file, got ${kindOf(stats)}`,
      );
  }
}

/** @returns undefined if stat fails: a later check reports that */
function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

const OTHER_FILE = /^(CURRENT|LOCK|LOG|LOG\.old)$/;

function isNumbered(name: string): boolean {
  return /^(MANIFEST-\d+|\d+\.(ldb|sst|log|dbtmp))$/.test(name);
}

/**
 * Was the power cut while LevelDB made the store? It does not sync the manifest that CURRENT names first. The next one
 * is on disk before the first record is written.
 */
function isUnfinished(directory: string, files: readonly string[]): boolean {
  const isEmpty = (name: string): boolean => {
    const {size} = lstatSync(join(directory, name)); // of a link that does not open, too
    if (name !== FIRST_MANIFEST) return size === 0 || !/\.(ldb|sst|log)$/.test(name);
    return readFileSync(join(directory, name)).every(byte => byte === 0);
  };
  // The sizes first: what the disk cannot read of a store's files is named later.
  return (
    files.every(name => isNumbered(name) || OTHER_FILE.test(name)) &&
    files.filter(isNumbered).every(isEmpty) &&
    readFileSync(join(directory, "CURRENT"), "latin1") === `${FIRST_MANIFEST}\n`
  );
}

/** Removes a closed store under LevelDB's lock, so one opened meanwhile stays, and the empty folders made for it. */
export async function removeStore(directory: string, madeFolders: readonly string[]): Promise<void> {
  const {mode} = statSync(directory);
  try {
    await destroy(directory);
  } catch {
    return; // another process has it open
  }
  if (madeFolders.length === 0) {
    // The folder existed before the store, and LevelDB has removed it too.
    if (!isFolder(directory)) mkdirSync(directory, {mode});
    return;
  }
  for (const folder of madeFolders.toReversed()) {
    try {
      if (isFolder(folder)) rmdirSync(folder);
    } catch {
      return; // somebody has put something into the folder meanwhile
    }
  }
}

/** `Level` is classic-level here, which has this method. Its types do not say so. */
const {destroy} = Level as unknown as {destroy(directory: string): Promise<void>};

function isFolder(path: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true;
  } catch (error) {
    const {code, message} = error as NodeJS.ErrnoException;
    // The path goes through a file. The search upwards will come to that file and name it.
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw new StoreError("STORE_UNREADABLE", `cannot look at ${path}: ${message}`, {cause: error});
  }
  throw new StoreError("STORE_UNREADABLE", `${path}: expected a folder, got a file`);
}
