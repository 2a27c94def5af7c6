/** Counts the calls that wait for finality, and how their waits end. /metrics reads these plain numbers. */
import {Latencies} from "./latencies.ts";

const BOUNDS_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/**
 *   finalized   the block was finalized
 *   timed_out   it was not, in the caller's time
 *   replaced    a rollback removed the block that was named by its hash
 *   gone        the client went away
 *   stopped     the service is stopping
 *   refused     there was no room, so the call did not wait
 */
export type WaitOutcome = "finalized" | "timed_out" | "replaced" | "gone" | "stopped" | "refused";

export class WaitFigures {
  waiting = 0;
  readonly ended = new Map<WaitOutcome, number>();
  readonly durations = new Latencies(BOUNDS_SECONDS);

  /** A call's wait is over. */
  end(outcome: WaitOutcome, ms: number): void {
    this.count(outcome, 1);
    this.durations.observe("", ms / 1000);
  }

  count(outcome: WaitOutcome, calls: number): void {
    this.ended.set(outcome, (this.ended.get(outcome) ?? 0) + calls);
  }
}
