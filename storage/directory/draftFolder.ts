/**
 * A folder that is filled under a temporary name, and renamed once it is complete and on disk.
 *
 *   OUT.unfinished-4711             being filled by process 4711
 *   OUT.unfinished-4711.removing    left by a process that was killed, and about to be removed
 */
import {
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from "node:fs";
import {basename, dirname, join, resolve, sep} from "node:path";
import {StoreError} from "../errors.ts";
import {withFile} from "../regularFile.ts";

/** Files that a draft may have. Not LOCK: LevelDB opened that folder, so it is a store. */
const DRAFT_FILE = /^(CURRENT|MANIFEST-\d+|\d+\.(ldb|log)|ACKNOWLEDGED(\.new)?)$/;
const DRAFT = /\.unfinished-(\d+)(\.removing)?$/;

export class DraftFolder {
  private constructor(
    readonly path: string,
    private readonly out: string,
  ) {}

  /** @param out - must not exist, nor lie in `store`; its parent must exist. @throws StoreError WRITE_FAILED */
  static create(out: string, store: string, onLeftover: (leftover: Leftover) => void): DraftFolder {
    const target = resolve(out);
    const parent = dirname(target);
    const path = `${target}.unfinished-${process.pid}`;
    try {
      if (lstatSync(target, {throwIfNoEntry: false}) !== undefined)
        throw refused(`${out} is there already: a snapshot makes its folder itself`);
      if (`${realpathSync(parent)}${sep}`.startsWith(`${realpathSync(store)}${sep}`))
        throw refused(`${out} lies in the folder of the store`);
      removeLeftovers(parent).forEach(onLeftover);
      mkdirSync(path);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const {message} = error as Error;
      throw refused(
        existsSync(parent) ? `cannot make ${path}: ${message}` : `the folder ${parent} does not exist`,
        error,
      );
    }
    return new DraftFolder(path, target);
  }

  empty(): void {
    for (const name of readdirSync(this.path)) rmSync(join(this.path, name));
  }

  /** Gives the folder its name. Its files are synced already. @throws StoreError WRITE_FAILED */
  publish(): void {
    try {
      withFile(this.path, "r", fsyncSync);
      renameSync(this.path, this.out);
      withFile(dirname(this.out), "r", fsyncSync);
    } catch (error) {
      throw refused(`cannot finish ${this.out}: ${(error as Error).message}`, error);
    }
  }

  /** What a disk refuses to remove is left to the next snapshot there. */
  discard(): void {
    try {
      rmSync(this.path, {recursive: true, force: true});
    } catch {
      // The failure that is under way says what is wrong with the disk.
    }
  }
}

export interface Leftover {
  readonly path: string;
  /** Why it is still there; undefined: it was removed. */
  readonly reason: string | undefined;
}

function removeLeftovers(parent: string): Leftover[] {
  return readdirSync(parent)
    .filter(name => DRAFT.test(name))
    .map(name => {
      const path = join(parent, name);
      try {
        return {path, reason: removeLeftover(path)};
      } catch (error) {
        return {path, reason: (error as Error).message};
      }
    });
}

function removeLeftover(path: string): string | undefined {
  const [, pid, isClaimed] = DRAFT.exec(basename(path)) ?? [];
  if (isRunning(Number(pid))) return `process ${pid} may be at work on it`;
  const foreign = readdirSync(path).find(name => !DRAFT_FILE.test(name));
  if (foreign !== undefined) return `it has ${foreign}, which no snapshot has`;
  // Its process may run after all, in another container: then it finds the folder gone, not half empty.
  const claimed = isClaimed === undefined ? `${path}.removing` : path;
  renameSync(path, claimed);
  rmSync(claimed, {recursive: true});
  return undefined;
}

/** Does another process of this number run? Numbers are used again, above all in containers. */
function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function refused(message: string, cause?: unknown): StoreError {
  return new StoreError("WRITE_FAILED", message, {cause});
}
