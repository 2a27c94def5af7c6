/** Processor time of a process and of all processes below it that have ended, from /proc. */
import {existsSync, readFileSync} from "node:fs";

const TICKS_PER_SECOND = 100;

/** @param pid - default: this process. @returns seconds; undefined where the system has no /proc */
export function readProcessorSeconds(pid: number | "self" = "self"): number | undefined {
  if (!existsSync("/proc/self/stat")) return undefined;
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The second field is the program's name in brackets. utime, stime, cutime and cstime are the fields 14 to 17.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks / TICKS_PER_SECOND;
}

/** Processor time when the tests of a file were over. A reporter hears of that later: others may have run meanwhile. */
const ends = new Map<string, number>();

export function noteEnd(file: string): void {
  ends.set(file, readProcessorSeconds() ?? 0);
}

/** undefined: its tests were not run to their end. */
export function readEnd(file: string): number | undefined {
  return ends.get(file);
}
