/**
 * Figures mean nothing without these: the machine, the Node release and the commit.
 */
import {execFileSync} from "node:child_process";
import {availableParallelism, cpus, totalmem} from "node:os";
import {fileURLToPath} from "node:url";

const CHECKOUT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  /** "unknown" outside of a git checkout. */
  readonly commit: string;
  /** Do tracked files differ from the commit? */
  readonly isDirty: boolean;
  /** ISO 8601. */
  readonly date: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    ...readCommit(CHECKOUT),
    date: new Date().toISOString(),
  };
}

/** @param folder - if it only lies inside another repository, as an installed package may, the commit is unknown */
export function readCommit(folder: string): Pick<Machine, "commit" | "isDirty"> {
  if (git(folder, "rev-parse", "--show-prefix") !== "") return {commit: "unknown", isDirty: false};
  return {
    commit: git(folder, "rev-parse", "--short", "HEAD") ?? "unknown",
    isDirty: (git(folder, "status", "--porcelain", "--untracked-files=no") ?? "") !== "",
  };
}

export function writeMachine({cpu, cores, memoryGb, node}: Omit<Machine, "date">): string {
  return `${cpu}, ${memoryGb} GB, ${cores} ${cores === 1 ? "core" : "cores"}, Node ${node}`;
}

export function commitText({commit, isDirty}: Pick<Machine, "commit" | "isDirty">): string {
  return isDirty ? `${commit} (dirty)` : commit;
}

/** @returns undefined if there is no git, or no repository */
function git(cwd: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
