/**
 * What a figure is worth nothing without: the machine, the Node release and the commit.
 */
import {execFileSync} from "node:child_process";
import {availableParallelism, cpus} from "node:os";
import {fileURLToPath} from "node:url";

const CHECKOUT = fileURLToPath(new URL("../../", import.meta.url));

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly node: string;
  /** "unknown" outside of a git checkout. */
  readonly commit: string;
  /** Tracked files differ from the commit. */
  readonly isDirty: boolean;
  /** ISO 8601. */
  readonly date: string;
}

export function describeMachine(): Machine {
  const commit = git("rev-parse", "--short", "HEAD");
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    node: process.versions.node,
    commit: commit ?? "unknown",
    isDirty: (git("status", "--porcelain", "--untracked-files=no") ?? "") !== "",
    date: new Date().toISOString(),
  };
}

export function commitText({commit, isDirty}: Machine): string {
  return isDirty ? `${commit} (dirty)` : commit;
}

/** @returns undefined where there is no git, or no repository */
function git(...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd: CHECKOUT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
