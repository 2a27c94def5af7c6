/**
 * Lets the other threads of this process run first.
 *
 * Linux keeps a niceness per thread, which Node sets by thread id; elsewhere it is the whole process's, and stays.
 */
import {readlinkSync} from "node:fs";
import {setPriority} from "node:os";

/** A thread at 0 gets about nine times the time of one at 10, where both want all of a core. */
const NICENESS = 10;

export function yieldToOtherThreads(): void {
  if (process.platform !== "linux") return;
  const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  setPriority(threadId, NICENESS);
}
