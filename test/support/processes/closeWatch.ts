/** Watches a process and reports which of its closes failed. A descriptor that is closed twice has two owners. */
import {spawnSync} from "node:child_process";
import {existsSync, readFileSync} from "node:fs";

/** Absent on many machines, and not permitted in many containers. */
const HAS_STRACE = spawnSync("strace", ["-f", "-qq", "-e", "trace=close", "true"]).status === 0;

export class CloseWatch {
  private readonly trace: string;
  private readonly record: string;

  /** @param path - of the files that the watch makes */
  constructor(path: string) {
    this.trace = `${path}.trace`;
    this.record = `${path}.record`;
  }

  /** For Daemon and runProofd. With strace the process stays their child, since the tracer is not its parent (-D). */
  get options(): {env: Record<string, string>; under?: readonly string[]} {
    const recorder = new URL("./closeRecorder.js", import.meta.url).href;
    const env = {NODE_OPTIONS: `--import ${recorder}`, CLOSE_RECORD: this.record};
    if (!HAS_STRACE) return {env};
    const under = ["strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", "trace=close", "-o", this.trace];
    return {env, under};
  }

  /** Call it after the process's end. @returns the closes that failed */
  readFailures(): string[] {
    const recorded = existsSync(this.record) ? readFileSync(this.record, "utf8").split("\n") : [];
    const traced = HAS_STRACE ? readFileSync(this.trace, "utf8").split("\n") : [];
    return [...recorded.filter(line => line !== ""), ...traced.filter(line => line.includes(" = -1 "))];
  }
}
