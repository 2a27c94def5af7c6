/**
 * `npm test`: runs test files under node:test, and fails when a process that any of them started is still there at the
 * end. Such a process is found by a variable in its environment, which it inherits however deep it was started.
 *
 * Run: node dist/test/run.js [OPTION OF NODE...] [FILE...]; without files: all tests
 */
import {spawn} from "node:child_process";
import {randomUUID} from "node:crypto";
import {once} from "node:events";
import {existsSync, readdirSync, readFileSync} from "node:fs";
import {availableParallelism} from "node:os";
import {setTimeout as delay} from "node:timers/promises";
import {fileURLToPath} from "node:url";
import {RUN_VARIABLE} from "./support/processes/runVariable.ts";

const FOLDERS = ["integration", "property", "unit"];
/**
 * For a file, on Node 20, else for a test. The slowest file takes 70 s on two processors; beside 30 other busy processes
 * one took more than 13 minutes.
 */
const TIMEOUT_MS = 900_000;
/** Test files at the same time. They wait for disks, timers and other processes about half of their time. */
const FILES = availableParallelism() + 1;
/** What was killed at a file's end may take a moment to be gone. */
const LOOKS = 50;
const LOOK_EVERY_MS = 100;

interface Left {
  readonly pid: number;
  readonly name: string;
}

const args = process.argv.slice(2);
const isOption = (arg: string) => arg.startsWith("-");
const files = args.filter(arg => !isOption(arg));
const run = randomUUID();
const tests = spawn(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${FILES}`,
    // A line for a test, and at the end once more what failed, where a reader of the last lines finds it.
    "--test-reporter=spec",
    `--test-timeout=${TIMEOUT_MS}`,
    ...args.filter(isOption),
    ...(files.length > 0 ? files : findFiles()),
  ],
  {stdio: "inherit", env: {...process.env, [RUN_VARIABLE]: run}},
);
// What ends this process alone (a terminal's Ctrl-C reaches both) ends the runner too, and with it what its tests started.
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => tests.kill(name));
const [code, signal] = (await once(tests, "close")) as [number | null, NodeJS.Signals | null];
if (signal !== null) console.error(`the test runner was ended by ${signal}`);
let left = findLeft();
for (let look = 1; look < LOOKS && left.length > 0; look++) {
  await delay(LOOK_EVERY_MS);
  left = findLeft();
}
for (const {pid, name} of left) {
  console.error(`left running by the tests, killed: ${pid} ${name}`);
  process.kill(pid, "SIGKILL");
}
process.exitCode = left.length > 0 ? 1 : (code ?? 1);

function findFiles(): string[] {
  return FOLDERS.flatMap(folder => {
    const path = fileURLToPath(new URL(`${folder}/`, import.meta.url));
    const names = (readdirSync(path, {recursive: true}) as string[]).filter(name =>
      name.endsWith(".test.js"),
    );
    return names.sort().map(name => `${path}${name}`);
  });
}

/** Only where the system has /proc. */
function findLeft(): Left[] {
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
