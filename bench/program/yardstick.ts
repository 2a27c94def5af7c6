/**
 * Measures the speed of the computer while something else is measured, as the time of one SHA-256 of 64 bytes, the hash of a
 * branch in a tree.
 *
 * The speed of shared computers can change threefold from minute to minute. So the cost of a task in such hashes can be
 * compared better than its microseconds. A look is a burst that is much shorter than a time slice, so other processes hardly
 * change the median. It is SHA-256 for every suite of a store, so that all ratios mean the same.
 */
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";

const WARM_UP_LOOKS = 20;

const pair = new Uint8Array(64);
const hash = new Uint8Array(32);

export class Yardstick {
  private readonly looksUs: number[] = [];
  private nextAtMs = 0;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param hashes - number of hashes in a look
   * @param everyMs - time from one look to the next
   */
  constructor(
    private readonly hashes: number,
    private readonly everyMs: number,
  ) {
    for (let i = 0; i < WARM_UP_LOOKS; i++) this.hash();
  }

  /** For callers that have the thread to themselves between two runs of what they measure. */
  lookIfDue(): void {
    const startMs = performance.now();
    if (startMs < this.nextAtMs) return;
    this.look();
    this.nextAtMs = performance.now() + this.everyMs;
  }

  /** Starts to look regularly, by a timer. */
  start(): void {
    this.look();
    this.timer = setInterval(() => this.look(), this.everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Median time of a hash so far in microseconds; NaN before the first look. */
  get medianUs(): number {
    const sorted = this.looksUs.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1] ?? Number.NaN;
  }

  private look(): void {
    const startMs = performance.now();
    this.hash();
    this.looksUs.push(((performance.now() - startMs) * 1000) / this.hashes);
  }

  private hash(): void {
    for (let i = 0; i < this.hashes; i++) sha256Suite.hashPairsInto(pair, 1, hash);
  }
}
