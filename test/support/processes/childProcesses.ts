/**
 * The processes that tests start. Each has a group of its own, so that it is killed with all processes that it started. One that is
 * left after the last hook of its file fails the file, with its name and its test. If the test process is killed itself, run.ts kills
 * what carries the run's name.
 */
import {AsyncResource} from "node:async_hooks";
import {type ChildProcessWithoutNullStreams, spawn} from "node:child_process";
import {once} from "node:events";
import {after, beforeEach} from "node:test";
import {within} from "../wait.ts";
import {RUN_VARIABLE} from "./runVariable.ts";
import "./testProcess.ts";

interface ChildOptions {
  /** The whole environment except the run's name. Default: the environment of the test. */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  /** Pipes besides the standard streams, from descriptor 3 on. Default: none. */
  readonly morePipes?: number;
}

export interface Finished {
  readonly code: number | null;
  /** The signal that killed it, if it did not exit by itself. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What runs, with its command line and the test that it began in. */
const running = new Map<ChildProcessWithoutNullStreams, string>();
let lastTest = "before the first test";

/** Starts a process; its streams are pipes. */
export function startChild(
  command: string,
  args: readonly string[],
  {morePipes = 0, env = process.env, cwd}: ChildOptions = {},
): ChildProcessWithoutNullStreams {
  const {[RUN_VARIABLE]: run} = process.env;
  // It has the three standard pipes, but the types know that of three in all only.
  const child = spawn(command, args, {
    cwd,
    env: {...env, [RUN_VARIABLE]: run},
    detached: true,
    stdio: Array.from({length: 3 + morePipes}, () => "pipe" as const),
  }) as ChildProcessWithoutNullStreams;
  const {pid} = child;
  if (pid === undefined) return child; // its "error" says why
  running.set(child, `${[command, ...args].join(" ")} (${lastTest})`);
  child.once("exit", () => {
    running.delete(child);
    killGroup(pid);
  });
  return child;
}

export async function runChild(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): Promise<Finished> {
  const child = startChild(command, args, options);
  child.stdin.end();
  const [stdout, stderr, [code, signal]] = await Promise.all([
    readText(child.stdout),
    readText(child.stderr),
    within(`${[command, ...args].join(" ")} to end`.slice(0, 500), once(child, "close")),
  ]);
  return {code, signal, stdout, stderr};
}

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const piece of stream.setEncoding("utf8")) text += piece;
  return text;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // none of it is left
  }
}

beforeEach(t => {
  lastTest = t.name;
});

/** A hook that is registered in this scope belongs to the whole file, not to the running hook or test. */
const wholeFile = new AsyncResource("TestFile");
// Hooks run in the order of their registration. This one runs first and registers another one after those of the file.
after(() => wholeFile.runInAsyncScope(() => after(killRest)));

async function killRest(): Promise<void> {
  const left = [...running];
  for (const [child] of left) {
    const closed = once(child, "close");
    killGroup(child.pid as number);
    await closed;
  }
  if (left.length > 0)
    throw new Error(
      `processes had to be killed after ${process.argv.slice(2).join(", ")}:\n${left.map(([, name]) => name).join("\n")}`,
    );
}

process.on("exit", () => {
  for (const {pid} of running.keys()) killGroup(pid as number);
});
