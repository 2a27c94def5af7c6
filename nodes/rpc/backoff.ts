/** Exponential backoff. The random part keeps callers from retrying in step. */

export interface BackoffSettings {
  readonly firstMs: number;
  readonly longestMs: number;
}

export const DEFAULT_BACKOFF: BackoffSettings = {firstMs: 250, longestMs: 30_000};

export class Backoff {
  private nextMs: number;

  /** @param random - returns numbers of at least 0 and below 1 */
  constructor(
    private readonly settings: BackoffSettings,
    private readonly random: () => number = Math.random,
  ) {
    this.nextMs = settings.firstMs;
  }

  /** @returns milliseconds: half to all of this step */
  next(): number {
    const stepMs = this.nextMs;
    this.nextMs = Math.min(2 * stepMs, this.settings.longestMs);
    return stepMs * (0.5 + 0.5 * this.random());
  }

  reset(): void {
    this.nextMs = this.settings.firstMs;
  }
}
