/** Who holds LevelDB's lock, without opening the store. */
import {existsSync, readFileSync, statSync} from "node:fs";
import {mkdtemp, rm, symlink} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {Level} from "level";
import {isLocked} from "../leveldb/levelErrors.ts";

/**
 * Does another process have the store open? Changes nothing in its directory: LevelDB opens an empty folder whose lock
 * is a link to the store's, takes the lock, finds no store and releases it.
 *
 * Returns false if no folder can be created. Not for a store that this process has open: that would release its lock.
 */
export async function isInUse(directory: string): Promise<boolean> {
  const lock = resolve(directory, "LOCK");
  if (!existsSync(lock)) return false;
  let folder: string;
  try {
    folder = await mkdtemp(join(tmpdir(), "proofd-lock-"));
  } catch {
    return false; // the damage that was found is what the operator must see, not this error
  }
  try {
    await symlink(lock, join(folder, "LOCK"));
    await new Level(folder, {createIfMissing: false}).open();
    throw new Error(`LevelDB opened ${folder}, which holds no store`);
  } catch (error) {
    return isLocked(error);
  } finally {
    await rm(folder, {recursive: true});
  }
}

/** @returns the process that holds the store's lock, where Linux tells */
export function findHolder(directory: string): number | undefined {
  try {
    const {dev, ino} = statSync(join(directory, "LOCK"));
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
    const place = `${[major, minor].map(number => number.toString(16).padStart(2, "0")).join(":")}:${ino}`;
    const lockLine = new RegExp(`^\\d+: POSIX +ADVISORY +WRITE +(\\d+) ${place} `, "m");
    // 0: a process of another container.
    return Number(lockLine.exec(readFileSync("/proc/locks", "utf8"))?.[1]) || undefined;
  } catch {
    return undefined; // no lock, or not Linux
  }
}
