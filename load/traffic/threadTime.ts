/**
 * How a thread of the generator spent its time.
 *
 *   |  on a core  |  ready, no core  |  asleep: it waits for the server  |
 *   '------------- busy -------------'
 *
 * The event loop's figure counts a thread that is ready but has no core as asleep. Linux reports that time separately.
 */
import {readFileSync} from "node:fs";
import {performance} from "node:perf_hooks";

/** Shares of a time, 0 .. 1. */
export interface ThreadShares {
  readonly busy: number;
  /** The part of `busy` without a core. 0 except on Linux. */
  readonly starved: number;
}

export class ThreadTime {
  private readonly startMs = performance.now();
  private readonly loop = performance.eventLoopUtilization();
  private readonly before = readSchedule();

  read(): ThreadShares {
    const {utilization} = performance.eventLoopUtilization(this.loop);
    const now = readSchedule();
    const ns = (performance.now() - this.startMs) * 1e6;
    if (now === undefined || this.before === undefined || ns === 0) return {busy: utilization, starved: 0};
    const share = (part: number) => Math.min(1, Math.max(0, part / ns));
    const starved = now.waited - this.before.waited;
    const ran = now.ran - this.before.ran;
    return {busy: Math.max(utilization, share(ran + starved)), starved: share(starved)};
  }
}

/** Nanoseconds since the thread started; undefined if the system does not report them. */
function readSchedule(): {readonly ran: number; readonly waited: number} | undefined {
  try {
    const [ran = 0, waited = 0] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ").map(Number);
    return ran > 0 ? {ran, waited} : undefined;
  } catch {
    return undefined; // not Linux, or a kernel without these figures
  }
}
