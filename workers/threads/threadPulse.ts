/**
 * Whether a thread works, waits for its next event, or hangs in a system call. Only a thread that hangs takes no
 * processor time at all, because a timer wakes it while it waits. The main thread reads that time, on Linux, without
 * asking the thread. An endless loop is not found: nobody knows how long a block, or a state of a million accounts, may
 * take.
 */
import {readFileSync} from "node:fs";
import {readThreadId} from "./threadPriority.ts";

/** How often a thread that waits shows that it could go on. */
const BEAT_MS = 100;

/** Called once by a thread that has jobs with a pulse. */
export function keepPulse(): void {
  setInterval(() => {}, BEAT_MS).unref();
}

export class ThreadPulse {
  /** The system's number of the thread that has the job; 0: none has begun. */
  private readonly threadId: Int32Array;

  constructor(readonly shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.threadId = new Int32Array(shared);
  }

  begin(): void {
    if (process.platform === "linux") Atomics.store(this.threadId, 0, readThreadId());
  }

  /** @returns the thread's processor time in nanoseconds. undefined: it has not begun, or the system does not tell */
  read(): number | undefined {
    const threadId = Atomics.load(this.threadId, 0);
    if (threadId === 0) return undefined;
    try {
      return Number.parseInt(readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1"), 10);
    } catch {
      return undefined; // it has just ended
    }
  }
}
