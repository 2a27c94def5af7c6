/**
 * Waits between tries. Each is twice as long as the last, up to a bound. A random part is taken off, so that several
 * callers do not come at the same moment.
 */

export interface BackoffSettings {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const DEFAULT_BACKOFF: BackoffSettings = {firstMs: 250, longestMs: 30_000};

export class Backoff {
  private nextMs: number;

  /** @param random - gives numbers from 0 to below 1 */
  constructor(
    private readonly settings: BackoffSettings,
    private readonly random: () => number = Math.random,
  ) {
    this.nextMs = settings.firstMs;
  }

  /** @returns milliseconds: from half of this step to the whole step */
  next(): number {
    const stepMs = this.nextMs;
    this.nextMs = Math.min(2 * stepMs, this.settings.longestMs);
    return stepMs * (0.5 + 0.5 * this.random());
  }

  /** Begins with the first step again. */
  reset(): void {
    this.nextMs = this.settings.firstMs;
  }
}
