/**
 * LevelDB's lock, looked at without opening the store.
 */
import {existsSync} from "node:fs";
import {mkdtemp, rm, symlink} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {Level} from "level";
import {isLocked} from "./levelErrors.ts";

/**
 * Has another process the store open? Nothing in its directory is changed: LevelDB takes the lock of an empty folder, which
 * is a link to the store's, finds no store there and lets it go.
 *
 * False where no folder can be made: then it is not known. Not for a store that this process has open: letting go of the
 * link's lock would let go of the store's.
 */
export async function isInUse(directory: string): Promise<boolean> {
  const lock = resolve(directory, "LOCK");
  if (!existsSync(lock)) return false;
  let folder: string;
  try {
    folder = await mkdtemp(join(tmpdir(), "proofd-lock-"));
  } catch {
    return false; // the damage that was found is what the operator has to hear of
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
