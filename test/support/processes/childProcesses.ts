/**
 * The processes that tests start. Each is killed, with all processes that it started, when its test ends in any way:
 *
 *   the test ends, passed or not     before the next test of the file begins
 *   a hook started it                after the last hook of the file
 *   the test process exits           by its "exit" handler
 *   the test process is killed       by childKeeper.ts, which sees the end of a pipe
 *
 * If a process must be killed in one of the first two ways, the file fails. The error names the process and its test.
 */
import {AsyncResource} from "node:async_hooks";
import {type ChildProcessWithoutNullStreams, spawn} from "node:child_process";
import {once} from "node:events";
import type {Socket} from "node:net";
import type {Writable} from "node:stream";
import {after, afterEach, beforeEach} from "node:test";
import {fileURLToPath} from "node:url";
import {within} from "../wait.ts";
import {RUN_VARIABLE} from "./runVariable.ts";
import "./testProcess.ts";

const KEEPER = fileURLToPath(new URL("./childKeeper.js", import.meta.url));

interface ChildOptions {
  /** The whole environment except the run's name. Default: the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Pipes besides the standard streams, from descriptor 3 on. Default: none. */
  readonly morePipes?: number;
  /** One that has ended, which it replaces: it belongs to the same test or hook. */
  readonly replaced?: ChildProcessWithoutNullStreams;
}

export interface Finished {
  readonly code: number | null;
  /** The signal that killed it, if it did not exit by itself. */
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface TestUnderWay {
  readonly name: string;
  hasEnded: boolean;
}

interface OwnedChild {
  readonly process: ChildProcessWithoutNullStreams;
  /** Its command line. */
  readonly name: string;
  /** null if a hook started it. */
  readonly test: TestUnderWay | null;
}

const running = new Set<OwnedChild>();
const owners = new WeakMap<ChildProcessWithoutNullStreams, OwnedChild["test"]>();
/** The last one is the innermost subtest. */
const testsUnderWay: TestUnderWay[] = [];
const left: string[] = [];
/** The keeper's standard input. */
let keeper: Writable | null = null;

/** Starts a process; its streams are pipes. */
export function startChild(
  command: string,
  args: readonly string[],
  {replaced, morePipes = 0, ...options}: ChildOptions = {},
): ChildProcessWithoutNullStreams {
  // It gets its own process group, which can be killed as one.
  const {[RUN_VARIABLE]: run} = process.env;
  const env = {...(options.env ?? process.env), ...(run === undefined ? {} : {[RUN_VARIABLE]: run})};
  const stdio = Array.from({length: 3 + morePipes}, () => "pipe" as const);
  // It has the three standard pipes, but the types know that of three in all only.
  const child = spawn(command, args, {
    ...options,
    env,
    detached: true,
    stdio,
  }) as ChildProcessWithoutNullStreams;
  const {pid} = child;
  if (pid === undefined) return child; // its "error" says why
  const test = (replaced === undefined ? testsUnderWay.at(-1) : owners.get(replaced)) ?? null;
  const owned = {process: child, name: [command, ...args].join(" "), test};
  owners.set(child, test);
  running.add(owned);
  tellKeeper(`+${pid} ${owned.name}`);
  child.once("exit", () => {
    running.delete(owned);
    killGroup(pid);
    tellKeeper(`-${pid}`);
  });
  return child;
}

/** Runs a process to its end. Its standard input is empty. */
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

/** There is one keeper for the whole test process. It starts with the first child. */
function startKeeper(): Writable {
  // It gets its own group too, so that it outlives the tests. It does not carry the run's name, since it ends after the run.
  const {[RUN_VARIABLE]: _, ...env} = process.env;
  const child = spawn(process.execPath, [KEEPER], {
    env,
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.unref();
  // It is always a socket, but the types do not say so.
  (child.stdin as Socket).unref();
  return child.stdin;
}

function tellKeeper(line: string): void {
  keeper ??= startKeeper();
  keeper.write(`${line.replaceAll("\n", " ")}\n`);
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // none of it is left
  }
}

async function killLeft(owned: OwnedChild): Promise<void> {
  left.push(`${owned.test === null ? "a hook" : `"${owned.test.name}"`} left: ${owned.name}`);
  const closed = once(owned.process, "close");
  killGroup(owned.process.pid as number);
  await closed;
}

beforeEach(async t => {
  // Here, not in afterEach, which comes before the test's own t.after.
  for (const owned of running) if (owned.test?.hasEnded === true) await killLeft(owned);
  testsUnderWay.push({name: t.name, hasEnded: false});
});

afterEach(() => {
  const test = testsUnderWay.pop();
  if (test !== undefined) test.hasEnded = true;
});

async function killRest(): Promise<void> {
  for (const owned of running) await killLeft(owned);
  if (left.length > 0)
    throw new Error(
      `processes had to be killed after ${process.argv.slice(2).join(", ")}:\n${left.join("\n")}`,
    );
}

/** A hook that is registered in this scope belongs to the whole file, not to the running hook or test. */
const wholeFile = new AsyncResource("TestFile");
// Hooks run in the order of their registration. This one runs first and registers another one after those of the file.
after(() => wholeFile.runInAsyncScope(() => after(killRest)));

process.on("exit", () => {
  for (const {process: child} of running) killGroup(child.pid as number);
});
