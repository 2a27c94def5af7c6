/** This thread's processor time. Linux reports it in nanoseconds (proc(5), schedstat); a reading takes 1.3 us. */
import {openSync, readSync} from "node:fs";

const SCHEDSTAT = "/proc/thread-self/schedstat";
const NANOSECONDS_PER_MS = 1e6;
/** The kernel counts on in steps of 4 ms, so a reading is no more exact. */
const RECENT_MS = 1;

export class ThreadClock {
  private readonly file: number | undefined = openSchedstat();
  private readonly line = Buffer.alloc(64);
  /** How long this thread waited for a processor, at the last reading. 0 if the system does not report it. */
  waitedMs = 0;
  /** The last time that `readRecentMs` took, and when. */
  private recent: {readonly atMs: number; readonly readMs: number | undefined} | undefined;

  /** @returns ms, or undefined if the system does not report it */
  readMs(): number | undefined {
    if (this.file === undefined) return undefined;
    const length = readSync(this.file, this.line, 0, this.line.length, 0);
    const text = this.line.toString("latin1", 0, length);
    this.waitedMs = Number.parseInt(text.slice(text.indexOf(" ")), 10) / NANOSECONDS_PER_MS;
    return Number.parseInt(text, 10) / NANOSECONDS_PER_MS;
  }

  /** As readMs, but by the wall clock since a reading of the last millisecond: too much by a millisecond at most. */
  readRecentMs(nowMs: number): number | undefined {
    if (this.recent === undefined || nowMs - this.recent.atMs > RECENT_MS)
      this.recent = {atMs: nowMs, readMs: this.readMs()};
    const {atMs, readMs} = this.recent;
    return readMs === undefined ? undefined : readMs + nowMs - atMs;
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
