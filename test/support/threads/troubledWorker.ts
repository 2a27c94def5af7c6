/** A thread that does what a test tells it: it answers, waits, hangs or dies. It cannot start while the file `broken` exists. */
import {existsSync, openSync, writeFileSync} from "node:fs";
import {workerData} from "node:worker_threads";

export interface Trouble {
  readonly broken: string;
  /** A named pipe. */
  readonly pipe: string;
}

/** The file that says that a thread hangs. */
export function noteOf(pipe: string): string {
  return `${pipe}.hangs`;
}

/** No pulse before the thread hangs, and then none that goes on. */
export function feelPulse(pipe: string): number | undefined {
  return existsSync(noteOf(pipe)) ? 0 : undefined;
}

export type TroubledJob = "answer" | "wait" | "exit" | "refuse" | "hang";

// Piscina hands its own data to the thread as the second of two. A test has none.
const {broken, pipe} = ((Array.isArray(workerData) ? workerData[1] : workerData) ?? {}) as Trouble;
if (broken !== undefined && existsSync(broken)) throw new Error("it is broken");

export default async function work(job: TroubledJob): Promise<string> {
  if (job === "exit") process.exit(3);
  if (job === "refuse") throw new RangeError("refused");
  if (job === "wait") await new Promise(() => setInterval(() => {}, 1 << 30));
  if (job === "hang") {
    writeFileSync(noteOf(pipe), "");
    // Nothing ends this system call but a writer.
    openSync(pipe, "r");
  }
  return "answered";
}
