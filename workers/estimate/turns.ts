/**
 * The estimates of one thread take turns:
 *
 *   A ---20 ms---|              |---20 ms---| ...      B waits meanwhile, in its own EVM
 *                B ---20 ms---|
 *
 * Before each turn the event loop goes round, so that new jobs come in.
 */

/** A long estimate of another client waits no longer than this for its first turn, and for one part of a precompile. */
const TURN_MS = 20;

export class Turns {
  private readonly waiting: (() => void)[] = [];
  private isTaken = false;
  private endMs = 0;

  /** Works when it is its turn, to the end or until it passes. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.begin();
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  isOver(): boolean {
    return performance.now() >= this.endMs;
  }

  /** Ends a turn. @returns at the beginning of the next one */
  async pass(): Promise<void> {
    await new Promise(resolve => setImmediate(resolve));
    this.leave();
    await this.begin();
  }

  private async begin(): Promise<void> {
    if (this.isTaken) await new Promise<void>(resolve => this.waiting.push(resolve));
    this.isTaken = true;
    this.endMs = performance.now() + TURN_MS;
  }

  private leave(): void {
    const next = this.waiting.shift();
    // It is taken by the next one already, before that goes on.
    if (next === undefined) this.isTaken = false;
    else next();
  }
}
