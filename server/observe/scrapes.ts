/** Reads of /metrics share computations, so that they take a small part of the main thread however many come. */

/** After a computation, the next one waits this many times as long as it took: 2 % of the thread, and 50 ms for a usual one. */
const PAUSE_FACTOR = 50;
/** A computation takes long when the machine is busy. Whoever watches it then must not wait for more than this. */
const LONGEST_PAUSE_MS = 1000;

export class Scrapes<T> {
  /** The computation that has not begun yet. */
  private next: Promise<T> | undefined;
  private earliestMs = 0;

  constructor(private readonly compute: () => Promise<T>) {}

  /** @returns a result whose computation begins after the call, so that it covers all that came before */
  read(): Promise<T> {
    this.next ??= this.computeNext();
    return this.next;
  }

  private async computeNext(): Promise<T> {
    await new Promise(resolve => setTimeout(resolve, Math.max(0, this.earliestMs - performance.now())));
    this.next = undefined;
    const startMs = performance.now();
    try {
      return await this.compute();
    } finally {
      const endMs = performance.now();
      this.earliestMs = endMs + Math.min(PAUSE_FACTOR * (endMs - startMs), LONGEST_PAUSE_MS);
    }
  }
}
