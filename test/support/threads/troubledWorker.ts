/** A thread that does what a test tells it: it answers, waits or dies. It cannot start while the file `broken` exists. */
import {existsSync} from "node:fs";
import {workerData} from "node:worker_threads";

export interface Trouble {
  readonly broken: string;
}

export type TroubledJob = "answer" | "wait" | "exit" | "refuse";

// Piscina hands its own data to the thread as the second of two.
const {broken} = (Array.isArray(workerData) ? workerData[1] : workerData) as Trouble;
if (existsSync(broken)) throw new Error("it is broken");

export default async function work(job: TroubledJob): Promise<string> {
  if (job === "exit") process.exit(3);
  if (job === "refuse") throw new RangeError("refused");
  if (job === "wait") await new Promise(() => setInterval(() => {}, 1 << 30));
  return "answered";
}
