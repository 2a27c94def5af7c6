/** The built `proofd` as its users run it: a process with arguments, variables, streams and an exit code. */
import type {ChildProcessWithoutNullStreams} from "node:child_process";
import {once} from "node:events";
import {fileURLToPath} from "node:url";
import {AskedService, serveFlags} from "../http/askedService.ts";
import type {Tuning} from "../http/tunedOptions.ts";
import {within} from "../wait.ts";
import {type Finished, startChild} from "./childProcesses.ts";
import type {CommandEnd} from "./commandLines.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));
const TUNED_SERVE = fileURLToPath(new URL("./tunedServe.js", import.meta.url));
const COMMAND_LINES = fileURLToPath(new URL("./commandLines.js", import.meta.url));

/** The metric with the cost of the calls of chain_getProof that are admitted and not finished. */
export const QUEUED_COST = 'proofd_queued_cost{lane="proof"}';

export type {Finished};

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input, which is closed after it. */
  readonly input?: string;
  readonly cwd?: string | undefined;
  /** Another program to run, which announces itself in the same way. */
  readonly main?: string;
  /** A program with its arguments that runs the process, such as a tracer. */
  readonly under?: readonly string[];
}

export async function runProofd(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const daemon = new Daemon(args, options);
  daemon.child.stdin.end(options.input ?? "");
  return within(`proofd ${args.join(" ")} to end`, daemon.finished);
}

/** Runs commands one after the other in one process (commandLines.ts says which). @returns their ends, in their order */
export async function runCommandLines(
  lines: readonly (readonly string[])[],
  options: RunOptions = {},
): Promise<CommandEnd[]> {
  const input = lines.map(line => `${JSON.stringify(line)}\n`).join("");
  const {code, stdout, stderr} = await runProofd([], {main: COMMAND_LINES, input, ...options});
  if (code !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line));
}

interface ServeOptions extends RunOptions {
  /** With threads that estimate gas. They load the EVM, two fifths of a start's processor time. Default: without. */
  readonly estimates?: boolean;
  /** Runs the command of tunedServe.ts instead. */
  readonly tuning?: Tuning;
}

/** Starts `proofd serve` on a free port and waits until it listens. @throws Error with its stderr if it ends before */
export async function startDaemon(
  args: readonly string[],
  {estimates = false, tuning, ...options}: ServeOptions = {},
): Promise<Daemon> {
  const flags = serveFlags(args, estimates);
  const daemon =
    tuning === undefined
      ? new Daemon(["serve", ...flags], options)
      : new Daemon([JSON.stringify(tuning), ...flags], {...options, main: TUNED_SERVE});
  await within("proofd to listen", daemon.listening);
  return daemon;
}

export class Daemon extends AskedService {
  readonly child: ChildProcessWithoutNullStreams;
  readonly finished: Promise<Finished>;
  /** Settles when the process prints that it listens. */
  readonly listening: Promise<void>;
  stdout = "";
  stderr = "";
  /** The JSON line; empty until it comes. */
  announcement: Readonly<Record<string, unknown>> = {};

  constructor(args: readonly string[], options: RunOptions = {}) {
    super();
    // The test runner's own variables must not reach the program.
    const env = {PATH: process.env.PATH ?? "", ...options.env};
    const main = options.main ?? MAIN;
    const [command, ...rest] = [...(options.under ?? []), process.execPath, main, ...args] as [string];
    this.child = startChild(command, rest, {env, cwd: options.cwd});
    this.child.stdin.on("error", () => {}); // the process may end before it has read all
    this.child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.finished = once(this.child, "close").then(([code, signal]) => {
      return {code: code as number | null, signal, stdout: this.stdout, stderr: this.stderr};
    });
    this.listening = new Promise((resolve, reject) => {
      this.child.stdout.setEncoding("utf8").on("data", (text: string) => {
        this.stdout += text;
        const end = this.stdout.indexOf("\n");
        if (end === -1 || "msg" in this.announcement || !this.stdout.startsWith("{")) return;
        this.announcement = JSON.parse(this.stdout.slice(0, end));
        resolve();
      });
      this.finished.then(({code, stderr}) => reject(new Error(`proofd ended with ${code}: ${stderr}`)));
    });
    this.listening.catch(() => {}); // the code that awaits it sees the error
  }

  override get url(): string {
    return String(this.announcement.url);
  }

  protected override get operatorsUrl(): string {
    return new URL(String(this.announcement.metrics ?? this.url)).origin;
  }

  /** Also when it logs. @throws Error if the process has ended */
  protected override async changed(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null)
      throw new Error(`proofd ended with ${this.child.exitCode ?? this.child.signalCode}`);
    const ending = new AbortController();
    const said = once(this.child.stderr, "data", {signal: ending.signal}).catch(() => {}); // something else came first
    await Promise.race([super.changed(), said, this.finished]);
    ending.abort();
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Finished> {
    this.child.kill(signal);
    return within(`proofd to end after ${signal}`, this.finished);
  }
}
