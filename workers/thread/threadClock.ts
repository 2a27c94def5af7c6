/**
 * How long this thread has had a processor.
 *
 * Linux reports it per thread, in nanoseconds (proc(5), schedstat). One reading takes 1.3 us. Node 20 has no call for it.
 */
import {openSync, readSync} from "node:fs";

const SCHEDSTAT = "/proc/thread-self/schedstat";
const NANOSECONDS_PER_MS = 1e6;

export class ThreadClock {
  private readonly file: number | undefined = openSchedstat();
  private readonly line = Buffer.alloc(64);

  /** @returns ms, or undefined if the system does not report it */
  readMs(): number | undefined {
    if (this.file === undefined) return undefined;
    const length = readSync(this.file, this.line, 0, this.line.length, 0);
    return Number.parseInt(this.line.toString("latin1", 0, length), 10) / NANOSECONDS_PER_MS;
  }
}

/** The file shows the thread that opened it, even if another thread reads it. */
function openSchedstat(): number | undefined {
  try {
    return openSync(SCHEDSTAT, "r");
  } catch {
    return undefined;
  }
}
