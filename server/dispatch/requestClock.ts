/** Measures how long a request may still take. The clock is stopped while the request waits only for its own reader. */
export class RequestClock {
  readonly startedMs = performance.now();
  /** When the unfinished calls are given up. A stop of the clock moves it by the length of the stop. */
  private deadlineMs: number;
  /** When the clock was stopped. undefined while it runs. */
  private pausedSinceMs: number | undefined;
  /** Whether the request has ever waited for its own reader. */
  wasPaused = false;

  constructor(timeoutMs: number) {
    this.deadlineMs = this.startedMs + timeoutMs;
  }

  /** Stops or starts the clock. @returns whether that is a change */
  pause(isPaused: boolean): boolean {
    if (isPaused === (this.pausedSinceMs !== undefined)) return false;
    const nowMs = performance.now();
    if (this.pausedSinceMs !== undefined) this.deadlineMs += nowMs - this.pausedSinceMs;
    this.pausedSinceMs = isPaused ? nowMs : undefined;
    this.wasPaused = true;
    return true;
  }

  isOverdue(nowMs: number): boolean {
    return this.pausedSinceMs === undefined && nowMs >= this.deadlineMs;
  }

  /** Time until the unfinished calls are given up. */
  leftMs(nowMs: number): number {
    return this.deadlineMs - nowMs;
  }
}
