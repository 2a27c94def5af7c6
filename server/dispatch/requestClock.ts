/** How long a request may take. The clock stands still while only the request's own reader holds it up. */
export class RequestClock {
  readonly startedMs = performance.now();
  /** When the unfinished calls are given up; moves while the clock stands still. */
  private deadlineMs: number;
  /** Since when it stands still; null while it does not. */
  private pausedSinceMs: number | null = null;
  private paused = false;

  constructor(timeoutMs: number) {
    this.deadlineMs = this.startedMs + timeoutMs;
  }

  /** The request has waited for its own reader. */
  get wasPaused(): boolean {
    return this.paused;
  }

  /** @returns whether that has changed */
  pause(isPaused: boolean): boolean {
    if (isPaused === (this.pausedSinceMs !== null)) return false;
    const nowMs = performance.now();
    if (this.pausedSinceMs !== null) this.deadlineMs += nowMs - this.pausedSinceMs;
    this.pausedSinceMs = isPaused ? nowMs : null;
    this.paused = true;
    return true;
  }

  isOverdue(nowMs: number): boolean {
    return this.pausedSinceMs === null && nowMs >= this.deadlineMs;
  }

  /** Until the unfinished calls are given up. */
  leftMs(nowMs: number): number {
    return this.deadlineMs - nowMs;
  }
}
