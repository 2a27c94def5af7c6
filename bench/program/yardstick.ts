/**
 * The speed of the computer while something else is measured: one SHA-256 of 64 bytes, as a tree's branch is hashed.
 *
 * Shared computers differ threefold from minute to minute; what a task costs in such hashes travels better than
 * microseconds. A look is a burst that is short against a time slice, so the median has little of other processes'
 * turns. It is SHA-256 whatever the store's suite, so that all ratios mean the same.
 */
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";

const WARM_UP_LOOKS = 20;

const pair = new Uint8Array(64);
const hash = new Uint8Array(32);

export class Yardstick {
  private readonly hashes: number;
  private readonly everyMs: number;
  private readonly looksUs: number[] = [];
  private nextAtMs = 0;
  private timer: NodeJS.Timeout | undefined;

  /**
   * @param hashes - of a look
   * @param everyMs - from one look to the next
   */
  constructor(hashes: number, everyMs: number) {
    this.hashes = hashes;
    this.everyMs = everyMs;
    for (let i = 0; i < WARM_UP_LOOKS; i++) this.hash();
  }

  /** For whoever has the thread to itself between two runs of what it measures. */
  lookIfDue(): void {
    const startMs = performance.now();
    if (startMs < this.nextAtMs) return;
    this.look();
    this.nextAtMs = performance.now() + this.everyMs;
  }

  /** Looks from now on, by a timer. */
  start(): void {
    this.look();
    this.timer = setInterval(() => this.look(), this.everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Microseconds per hash, the median so far; NaN without a look. */
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
