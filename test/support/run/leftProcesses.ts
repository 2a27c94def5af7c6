/** Processes that the tests of a run left running. They carry the run's name in their environment, which they inherit. */
import {existsSync, readdirSync, readFileSync} from "node:fs";
import {setTimeout as delay} from "node:timers/promises";
import {RUN_VARIABLE} from "../processes/runVariable.ts";

/** What was killed at a file's end may take a moment to be gone. */
const LOOKS = 50;
const LOOK_EVERY_MS = 100;

interface Left {
  readonly pid: number;
  readonly name: string;
}

/** Looks again for a while, then kills what is left. @returns what it killed */
export async function killLeft(run: string): Promise<Left[]> {
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
