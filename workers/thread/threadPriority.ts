/**
 * Lets the other threads of this process run first.
 *
 * Linux keeps a niceness per thread, which Node sets by thread id; elsewhere it is the whole process's, and stays.
 */
import {readlinkSync} from "node:fs";
import {setPriority} from "node:os";

/** Where both want all of a core, a thread at 0 gets three times the time of one at 5, nine times that of one at 10, 68 times that of one at 19. */
export const Niceness = {IMPORT: 5, ESTIMATE: 10, CHECK: 19} as const;

export function yieldToOtherThreads(niceness: (typeof Niceness)[keyof typeof Niceness]): void {
  if (process.platform !== "linux") return;
  const threadId = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  setPriority(threadId, niceness);
}
