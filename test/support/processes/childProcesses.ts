/**
 * The processes that tests start. Each is killed, with all that it started itself, when its test ends, however it ends:
 *
 *   the test ends, passed or not     before the next test of the file begins
 *   a hook started it                after the last hook of the file
 *   the test process exits           by its "exit" handler
 *   the test process is killed       by childKeeper.ts, which sees the end of a pipe
 *
 * A process that was left to be killed in one of the first two ways fails the file, by its own name and its test's.
 */
import {AsyncResource} from "node:async_hooks";
import {type ChildProcessWithoutNullStreams, spawn} from "node:child_process";
import {once} from "node:events";
import type {Socket} from "node:net";
import type {Writable} from "node:stream";
import {after, afterEach, beforeEach} from "node:test";
import {fileURLToPath} from "node:url";
import {RUN_VARIABLE} from "./runVariable.ts";
import "./testProcess.ts";

const KEEPER = fileURLToPath(new URL("./childKeeper.js", import.meta.url));

export interface ChildOptions {
  /** The whole environment but for the run's name; left out: that of the test. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Finished {
  readonly code: number | null;
  /** The signal that killed it, where it did not exit by itself. */
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
  /** Null for a hook. */
  readonly test: TestUnderWay | null;
}

const running = new Set<OwnedChild>();
/** The last one is the innermost subtest. */
const testsUnderWay: TestUnderWay[] = [];
const left: string[] = [];
/** The keeper's standard input. */
let keeper: Writable | null = null;

/** Starts a process; its streams are pipes. */
export function startChild(
  command: string,
  args: readonly string[],
  options: ChildOptions = {},
): ChildProcessWithoutNullStreams {
  // A process group of its own, to be killed as one.
  const {[RUN_VARIABLE]: run} = process.env;
  const env = {...(options.env ?? process.env), ...(run === undefined ? {} : {[RUN_VARIABLE]: run})};
  const child = spawn(command, args, {...options, env, detached: true, stdio: "pipe"});
  const {pid} = child;
  if (pid === undefined) return child; // its "error" says why
  const owned = {process: child, name: [command, ...args].join(" "), test: testsUnderWay.at(-1) ?? null};
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
    once(child, "close"),
  ]);
  return {code, signal, stdout, stderr};
}

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const piece of stream.setEncoding("utf8")) text += piece;
  return text;
}

/** One for the whole test process, started with the first child. */
function startKeeper(): Writable {
  // In a group of its own too, so that what ends the tests leaves it alive; it ends after them, and is not theirs.
  const {[RUN_VARIABLE]: _, ...env} = process.env;
  const child = spawn(process.execPath, [KEEPER], {
    env,
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.unref();
  // Always a socket, which the types do not say.
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
    throw new Error(`processes had to be killed after ${process.argv[1]}:\n${left.join("\n")}`);
}

/** What is registered in it belongs to the whole file, not to the hook or test under way. */
const wholeFile = new AsyncResource("TestFile");
// Hooks run in the order of their registration: this one is the first, and puts another behind those of the file.
after(() => wholeFile.runInAsyncScope(() => after(killRest)));

process.on("exit", () => {
  for (const {process: child} of running) killGroup(child.pid as number);
});
