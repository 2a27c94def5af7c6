/** The built `proofd` as its users run it: a process with arguments, variables, streams and an exit code. */
import type {ChildProcessWithoutNullStreams} from "node:child_process";
import {once} from "node:events";
import {setImmediate} from "node:timers/promises";
import {fileURLToPath} from "node:url";
import {type Finished, startChild} from "./childProcesses.ts";
import type {CommandEnd} from "./commandLines.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.js", import.meta.url));
const COMMAND_LINES = fileURLToPath(new URL("./commandLines.js", import.meta.url));

/** The metric with the cost of the calls of chain_getProof that are admitted and not finished. */
export const QUEUED_COST = 'proofd_queued_cost{lane="proof"}';

export type {Finished};

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Text for standard input, which is closed after it. */
  readonly input?: string;
  readonly cwd?: string;
  /** Another program to run, which announces itself in the same way. */
  readonly main?: string;
  /** A program with its arguments that runs the process, such as a tracer. */
  readonly under?: readonly string[];
}

/** Runs a command to its end. */
export async function runProofd(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const daemon = new Daemon(args, options);
  daemon.child.stdin.end(options.input ?? "");
  return daemon.finished;
}

/** Runs commands one after the other in one process (commandLines.ts says which). @returns their ends, in their order */
export async function runCommandLines(
  lines: readonly (readonly string[])[],
  cwd?: string,
): Promise<CommandEnd[]> {
  const where = cwd === undefined ? {} : {cwd};
  const {code, stdout, stderr} = await runProofd([], {
    main: COMMAND_LINES,
    input: lines.map(line => `${JSON.stringify(line)}\n`).join(""),
    ...where,
  });
  if (code !== 0) throw new Error(stderr);
  return stdout
    .trimEnd()
    .split("\n")
    .map(line => JSON.parse(line));
}

export interface ServeOptions extends RunOptions {
  /** With threads that estimate gas. They load the EVM, two fifths of a start's processor time. Default: without. */
  readonly estimates?: boolean;
}

/** Starts `proofd serve` on a free port and waits until it listens. @throws Error with its stderr if it ends before */
export async function startDaemon(
  args: readonly string[],
  {estimates = false, ...options}: ServeOptions = {},
): Promise<Daemon> {
  const daemon = new Daemon(
    ["serve", "--port", "0", ...(estimates ? [] : ["--no-estimate"]), ...args],
    options,
  );
  await daemon.listening;
  return daemon;
}

export class Daemon {
  readonly child: ChildProcessWithoutNullStreams;
  readonly finished: Promise<Finished>;
  /** Settles when the process prints that it listens. */
  readonly listening: Promise<void>;
  stdout = "";
  stderr = "";
  /** The JSON line; empty until it comes. */
  announcement: Readonly<Record<string, unknown>> = {};

  constructor(args: readonly string[], options: RunOptions = {}) {
    // The test runner's own variables must not reach the program.
    const env = {PATH: process.env.PATH ?? "", ...options.env};
    const cwd = options.cwd === undefined ? {} : {cwd: options.cwd};
    const main = options.main ?? MAIN;
    const [command, ...rest] = [...(options.under ?? []), process.execPath, main, ...args] as [string];
    this.child = startChild(command, rest, {env, ...cwd});
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

  get url(): string {
    return String(this.announcement.url);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** @returns the answer's text and status */
  async post(body: string | Uint8Array): Promise<{status: number; text: string}> {
    const response = await this.fetch("", {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: body as string,
    });
    return {status: response.status, text: await response.text()};
  }

  /** Like `post`, of one call, for a client with this Accept header. @returns also the answer's content type */
  async postAccepting(
    accept: string,
    body: unknown,
  ): Promise<{status: number; type: string | null; body: Buffer}> {
    const response = await this.fetch("", {
      method: "POST",
      headers: {"content-type": "application/json", accept},
      body: JSON.stringify(body),
    });
    const type = response.headers.get("content-type");
    return {status: response.status, type, body: Buffer.from(await response.arrayBuffer())};
  }

  /** @returns the parsed answer */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
  async send(body: unknown): Promise<any> {
    return JSON.parse((await this.post(JSON.stringify(body))).text);
  }

  /** One call. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test asserts of it
  async call(method: string, params: unknown = []): Promise<any> {
    return this.send({jsonrpc: "2.0", id: 1, method, params});
  }

  /** @returns the value with exactly these labels, 0 if nothing was counted under them. @throws Error if there is no such metric */
  async readMetric(name: string): Promise<number> {
    const {status, text} = await this.get("/metrics");
    const family = (name.split("{")[0] as string).replace(/_(bucket|count|sum)$/, "");
    if (status !== 200 || !text.includes(`# TYPE ${family} `))
      throw new Error(`/metrics has no ${family}: status ${status}, ${text.length} characters`);
    const line = text.split("\n").find(one => one.startsWith(`${name} `));
    return line === undefined ? 0 : Number(line.slice(name.length + 1));
  }

  /** @param path - of one of the service's own pages, such as "/readyz" */
  async get(path: string): Promise<{status: number; text: string}> {
    const response = await this.fetch(path);
    return {status: response.status, text: await response.text()};
  }

  /**
   * The event loop goes round before and after. Before, because a server closes idle connections: a test that has computed for
   * long would send its request on a closed one. After, so that `stderr` has what the service logged before it answered.
   */
  private async fetch(path: string, init?: RequestInit): Promise<Response> {
    await goRound();
    const response = await fetch(`${this.url}${path}`, init);
    await goRound();
    return response;
  }

  /** Waits until stderr matches. @throws Error if the process ends before */
  async waitForStderr(pattern: RegExp): Promise<void> {
    let hasEnded = false;
    const ended = this.finished.then(() => {
      hasEnded = true;
    });
    while (!pattern.test(this.stderr)) {
      if (hasEnded) throw new Error(`proofd ended and did not say ${pattern}: ${this.stderr}`);
      await Promise.race([once(this.child.stderr, "data"), ended]);
    }
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Finished> {
    this.child.kill(signal);
    return this.finished;
  }
}

/** Lets the event loop look at all sockets and pipes. */
async function goRound(): Promise<void> {
  await setImmediate();
  // The first one may have come before this round's look.
  await setImmediate();
}
