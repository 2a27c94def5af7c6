/**
 * How long this thread has had a processor.
 *
 * Linux tells per thread, in nanoseconds (proc(5), schedstat); 1.3 us a reading. Node 20 has no call for it.
 */
import {openSync, readSync} from "node:fs";

const SCHEDSTAT = "/proc/thread-self/schedstat";
const NANOSECONDS_PER_MS = 1e6;

export class ThreadClock {
  private readonly file: number | undefined = openSchedstat();
  private readonly line = Buffer.alloc(64);

  /** @returns ms, or undefined where the system does not tell */
  readMs(): number | undefined {
    if (this.file === undefined) return undefined;
    const length = readSync(this.file, this.line, 0, this.line.length, 0);
    return Number.parseInt(this.line.toString("latin1", 0, length), 10) / NANOSECONDS_PER_MS;
  }
}

/** The file of the thread that opens it, whoever reads it later. */
function openSchedstat(): number | undefined {
  try {
    return openSync(SCHEDSTAT, "r");
  } catch {
    return undefined;
  }
}
