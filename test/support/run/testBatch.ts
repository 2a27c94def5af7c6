/** Test files that share a process. Each batch is a process of testFiles.ts. */
import {type ChildProcess, spawn} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import type {FileReport} from "./fileReporter.ts";

const ENTRY = fileURLToPath(new URL("./testFiles.js", import.meta.url));
const REPORTER = new URL("./fileReporter.js", import.meta.url).href;

interface BatchOptions {
  readonly nodeOptions: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** For each file. */
  readonly timeoutMs: number;
  readonly onFile: (report: FileReport) => void;
}

export class TestBatch {
  readonly files: readonly string[];
  /** What the process wrote on both streams. */
  output = "";
  /** Why it failed. */
  readonly failures: string[] = [];
  private readonly options: BatchOptions;
  private child: ChildProcess | undefined;

  /** @param files - paths below dist/test */
  constructor(files: readonly string[], options: BatchOptions) {
    this.files = files;
    this.options = options;
  }

  /** Resolves when the process has ended and its streams are closed. */
  async run(): Promise<void> {
    const {nodeOptions, env, timeoutMs, onFile} = this.options;
    const reporters = ["spec", REPORTER].flatMap(name => [
      `--test-reporter=${name}`,
      "--test-reporter-destination=stdout",
    ]);
    const child = spawn(process.execPath, [...reporters, ...nodeOptions, ENTRY, ...this.files], {
      env,
      stdio: ["pipe", "pipe", "pipe", "ipc"],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    const waiting = new Set(this.files);
    const isFiltered = nodeOptions.some(option => option.startsWith("--test-name-pattern"));
    const failed: string[] = [];
    child.on("message", (report: FileReport) => {
      waiting.delete(report.file);
      if (report.failed > 0) failed.push(report.file);
      if (report.tests === 0 && !isFiltered) this.failures.push(`${report.file} has no tests`);
      onFile(report);
      timer.refresh();
    });
    const [first = ""] = this.files;
    const timer = setTimeout(() => {
      const [file = first] = waiting;
      this.failures.push(`timed out after ${timeoutMs} ms in ${file}`);
      child.kill("SIGKILL");
    }, timeoutMs);
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    clearTimeout(timer);
    const [missing] = waiting;
    if (missing !== undefined) this.failures.push(`ended with ${code ?? signal} in ${missing}`);
    else if (code !== 0 || failed.length > 0)
      this.failures.push(
        `ended with ${code ?? signal}: ${failed.length > 0 ? failed.join(", ") : this.files.join(", ")}`,
      );
  }

  /** Its keeper (childKeeper.ts) kills the processes that its tests started. */
  kill(): void {
    this.child?.kill("SIGKILL");
  }
}
