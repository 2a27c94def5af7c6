/** Lets other threads run first. Linux has a niceness per thread; elsewhere it is the whole process's, and stays. */
import {readlinkSync} from "node:fs";
import {setPriority} from "node:os";

/** Of one core, a thread at 0 gets 3 times the time of one at 5, 9 times at 10, 68 times at 19. */
export const Niceness = {IMPORT: 5, SNAPSHOT: 10, ESTIMATE: 10, CHECK: 19, PRUNE: 19} as const;

export function yieldToOtherThreads(niceness: (typeof Niceness)[keyof typeof Niceness]): void {
  if (process.platform !== "linux") return;
  setPriority(readThreadId(), niceness);
}

/** The system's number of this thread, on Linux. */
export function readThreadId(): number {
  return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
}
