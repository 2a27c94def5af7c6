/** Counts the calls that wait for finality, and how their waits end. /metrics reads these plain numbers. */

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

  count(outcome: WaitOutcome, calls: number): void {
    this.ended.set(outcome, (this.ended.get(outcome) ?? 0) + calls);
  }
}
