/** What a figure is worth nothing without: machine, Node, commit, command. */
import {execFileSync} from "node:child_process";
import {availableParallelism, cpus, totalmem} from "node:os";

export interface Machine {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
  readonly memoryGb: number;
  readonly system: string;
  /** With a + where files differ from it. */
  readonly commit: string;
  readonly command: string;
  readonly startedAt: string;
}

/** @param npmScript - "bench:peers" */
export function describeMachine(npmScript: string): Machine {
  const args = process.argv.slice(2).join(" ");
  return {
    node: process.versions.node,
    cores: availableParallelism(),
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${process.arch}`,
    commit: readCommit(),
    command: `npm run ${npmScript}${args === "" ? "" : ` -- ${args}`}`,
    startedAt: new Date().toISOString(),
  };
}

export function writeMachine({node, cores, cpu, memoryGb, commit, command}: Machine): string {
  return `Node ${node}, ${cores} cores (${cpu}), ${memoryGb} GB, commit ${commit}; ${command}`;
}

function readCommit(): string {
  const git = (...args: string[]) => execFileSync("git", args, {encoding: "utf8"}).trim();
  try {
    const isClean = git("status", "--porcelain", "--untracked-files=no") === "";
    return `${git("rev-parse", "--short", "HEAD")}${isClean ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}
