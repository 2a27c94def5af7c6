/**
 * `npm test`: runs test files under node:test, several processes at a time, each with several files. Fails too when a process that
 * a test started is still there at the end.
 *
 * Run: node dist/test/run.js [--times=N] [--busy=N] [--timeout=MS] [OPTION OF NODE...] [FILE OR FOLDER...]
 *
 *   --times     runs everything so often
 *   --busy      so many busy loops run beside the tests
 *   --timeout   for each file, on a machine with nothing else to do (support/patience.ts)
 */
import {type ChildProcess, spawn} from "node:child_process";
import {randomUUID} from "node:crypto";
import {once} from "node:events";
import {existsSync, readdirSync, readFileSync, statSync} from "node:fs";
import {availableParallelism} from "node:os";
import {join, relative, resolve} from "node:path";
import {setTimeout as delay} from "node:timers/promises";
import {fileURLToPath} from "node:url";
import {uwsLoads} from "./support/http/testedHttp.ts";
import {Patience} from "./support/patience.ts";
import {RUN_VARIABLE} from "./support/processes/runVariable.ts";
import type {FileReport} from "./support/run/fileReporter.ts";
import {readProcessorSeconds} from "./support/run/processorTime.ts";

const ENTRY = fileURLToPath(new URL("./support/run/testFiles.js", import.meta.url));
const REPORTER = new URL("./support/run/fileReporter.js", import.meta.url).href;

interface BatchOptions {
  readonly nodeOptions: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** For each file. */
  readonly timeoutMs: number;
  readonly onFile: (report: FileReport) => void;
}

class TestBatch {
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
      patience.refresh();
    });
    const [first = ""] = this.files;
    const patience = new Patience(timeoutMs, () => {
      const [file = first] = waiting;
      this.failures.push(`timed out after ${timeoutMs} ms in ${file}`);
      child.kill("SIGKILL");
    });
    const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
    patience.stop();
    const [missing] = waiting;
    if (missing !== undefined) this.failures.push(`ended with ${code ?? signal} in ${missing}`);
    else if (code !== 0 || failed.length > 0)
      this.failures.push(
        `ended with ${code ?? signal}: ${failed.length > 0 ? failed.join(", ") : this.files.join(", ")}`,
      );
  }

  /** What its tests started is killed at the end of the run. */
  kill(): void {
    this.child?.kill("SIGKILL");
  }
}

/** What was killed at a file's end may take a moment to be gone. */
const LOOKS = 50;
const LOOK_EVERY_MS = 100;

interface Left {
  readonly pid: number;
  readonly name: string;
}

/** Looks again for a while, then kills what is left. @returns what it killed */
async function killLeft(run: string): Promise<Left[]> {
  let left = findLeft(run);
  for (let look = 1; look < LOOKS && left.length > 0; look++) {
    await delay(LOOK_EVERY_MS);
    left = findLeft(run);
  }
  for (const {pid} of left) process.kill(pid, "SIGKILL");
  return left;
}

/** Only where the system has /proc. */
function findLeft(run: string): Left[] {
  const found: Left[] = [];
  for (const entry of existsSync("/proc") ? readdirSync("/proc") : []) {
    if (!/^\d+$/.test(entry)) continue;
    if (!(readProc(`${entry}/environ`)?.split("\0").includes(`${RUN_VARIABLE}=${run}`) ?? false)) continue;
    found.push({pid: Number(entry), name: readProc(`${entry}/cmdline`)?.replaceAll("\0", " ").trim() ?? "?"});
  }
  return found;
}

/** Undefined for what has ended, or belongs to another user. */
function readProc(file: string): string | undefined {
  try {
    return readFileSync(`/proc/${file}`, "utf8");
  } catch {
    return undefined;
  }
}

const TESTS = fileURLToPath(new URL("./", import.meta.url));
const FOLDERS = ["integration", "property", "unit"].map(name => join(TESTS, name));
const SHORT = /(^|\/)(property|unit)\//;
/** Test files wait for disks, timers and other processes about half of their time. */
const PROCESSES = availableParallelism() + 1;
/** Long files that share a process, whose modules are loaded and compiled once. More would leave one process at the end. */
const MOST_FILES = 10;
const SLOWEST = 10;
/**
 * A function's bytes of bytecode until V8 optimizes it, 15 times the default: most run too seldom in a test to pay for that, which took
 * a sixth of their processor time. Processes that tests start have the default. Later versions of Node have no such option.
 */
const V8_OPTIONS = process.versions.node.startsWith("20.") ? ["--interrupt-budget=2000000"] : [];
/** Run again with Node's own HTTP server, where the first run has uWebSockets.js. TEST_HTTP=node runs any others so. */
const HTTP_FILES = /^integration\/server\/(http|httpUnread|hostileClients)\.test\.js$/;

const own = {times: 1, busy: 0, timeout: 300_000};
const nodeOptions: string[] = [];
const paths: string[] = [];
for (const arg of process.argv.slice(2)) {
  const [, name, value] = /^--(times|busy|timeout)=(\d+)$/.exec(arg) ?? [];
  if (name !== undefined) own[name as keyof typeof own] = Number(value);
  else if (arg.startsWith("-")) nodeOptions.push(arg);
  else paths.push(resolve(arg));
}
const again =
  paths.length > 0 || process.env.TEST_HTTP !== undefined || !uwsLoads()
    ? []
    : findFiles(TESTS).filter(file => HTTP_FILES.test(file));
const files = (paths.length > 0 ? paths : FOLDERS).flatMap(findFiles);
let stopped: NodeJS.Signals | undefined;
const running = new Set<TestBatch>();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.on(name, () => {
    stopped = name;
    for (const batch of running) batch.kill();
  });
const loops = Array.from({length: own.busy}, () => spawn(process.execPath, ["-e", "for (;;);"]));
process.exitCode = (await runAll(loops)) ? 0 : 1;

async function runAll(busy: readonly ChildProcess[]): Promise<boolean> {
  let hasPassed = true;
  for (let time = 0; time < own.times && stopped === undefined; time++)
    hasPassed = (await runOnce()) && hasPassed;
  for (const loop of busy) loop.kill("SIGKILL");
  return hasPassed;
}

/** @returns whether all passed and nothing was left running */
async function runOnce(): Promise<boolean> {
  const run = randomUUID();
  const start = performance.now();
  const startSeconds = readProcessorSeconds() ?? 0;
  const reports: FileReport[] = [];
  const options = {
    nodeOptions: [...V8_OPTIONS, ...nodeOptions],
    env: {...process.env, [RUN_VARIABLE]: run},
    timeoutMs: own.timeout,
    onFile: (report: FileReport) => {
      reports.push(report);
      const {file, milliseconds, processorSeconds, tests, failed, skipped} = report;
      const verdict = failed > 0 ? `${failed} FAILED of` : "passed,";
      console.log(
        `${reports.length} of ${files.length + again.length}  ${seconds(milliseconds)}  ${processorSeconds.toFixed(1)} s of processor time  ${file}: ${verdict} ${tests} tests`,
      );
      for (const one of skipped) console.log(`    skipped: ${one}`);
    },
  };
  const waiting = planBatches().map(batch => new TestBatch(batch, options));
  if (again.length > 0)
    waiting.push(new TestBatch(again, {...options, env: {...options.env, TEST_HTTP: "node"}}));
  const isAlone = waiting.length === 1;
  const failed: TestBatch[] = [];
  const work = async () => {
    for (let batch = waiting.shift(); batch !== undefined && stopped === undefined; batch = waiting.shift()) {
      running.add(batch);
      await batch.run();
      running.delete(batch);
      if (batch.failures.length > 0 && stopped === undefined) failed.push(batch);
      if (isAlone) console.log(batch.output);
      if (failed.includes(batch)) console.log(`FAILED: ${batch.failures.join("; ")}`);
    }
  };
  await Promise.all(Array.from({length: PROCESSES}, work));
  // What failed comes last, where a reader of the last lines finds it.
  for (const {output, failures} of failed)
    console.log(`\n${failures.join("; ")}\n${output.slice(Math.max(0, output.indexOf("✖ failing tests:")))}`);
  const left = await killLeft(run);
  for (const {pid, name} of left) console.error(`left running by the tests, killed: ${pid} ${name}`);
  showMost(reports, "time", one => one.milliseconds);
  showMost(reports, "processor time", one => one.processorSeconds * 1000);
  const sum = (count: (report: FileReport) => number) => reports.reduce((all, one) => all + count(one), 0);
  const processor = readProcessorSeconds();
  const end = stopped === undefined ? "" : `interrupted by ${stopped}: `;
  console.log(
    `\n${end}${reports.length} of ${files.length + again.length} files, ${sum(one => one.tests)} tests, ` +
      `${sum(one => one.failed)} failed, ${sum(one => one.skipped.length)} skipped, ${failed.length} processes failed, ` +
      `${seconds(performance.now() - start)}` +
      (processor === undefined ? "" : `, ${(processor - startSeconds).toFixed(0)} s of processor time`),
  );
  return failed.length === 0 && left.length === 0 && stopped === undefined;
}

function showMost(
  reports: readonly FileReport[],
  what: string,
  measure: (report: FileReport) => number,
): void {
  console.log(`\nThe most ${what}, of ${reports.length} files:`);
  const most = reports.toSorted((a, b) => measure(b) - measure(a)).slice(0, SLOWEST);
  for (const report of most) console.log(`${seconds(measure(report)).padStart(9)}  ${report.file}`);
}

/** Short files come last: they fill the time in which the last long ones end. */
function planBatches(): string[][] {
  const long = files.filter(file => !SHORT.test(file));
  const short = files.filter(file => SHORT.test(file));
  const size = Math.min(MOST_FILES, Math.ceil(long.length / PROCESSES));
  const batches = Array.from({length: Math.ceil(long.length / (size || 1))}, (_, at) =>
    long.slice(size * at, size * (at + 1)),
  );
  for (let first = 0; first < Math.min(PROCESSES, short.length); first++)
    batches.push(short.filter((_file, place) => place % PROCESSES === first));
  return batches;
}

/** @returns paths below dist/test */
function findFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [relative(TESTS, path)];
  const names = readdirSync(path, {recursive: true, encoding: "utf8"}).filter(name =>
    name.endsWith(".test.js"),
  );
  return names.sort().map(name => relative(TESTS, join(path, name)));
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
