/**
 * The time of a SHA-256 of 64 bytes while something else is measured: what its time is compared with.
 *
 * The absolute speed of a shared machine varies threefold within minutes, so the yardstick is looked at every 5 ms,
 * between two runs of the task at hand. It is SHA-256 whatever the store's suite, so that all ratios mean the same.
 */
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";

/** A look takes about a hundredth of it. */
const INTERVAL_MS = 5;
const HASHES_PER_LOOK = 50;

const pair = new Uint8Array(64);
const hash = new Uint8Array(32);

export class Yardstick {
  private readonly looks: number[] = [];
  private nextAtMs = 0;

  lookIfDue(): void {
    const startMs = performance.now();
    if (startMs < this.nextAtMs) return;
    for (let i = 0; i < HASHES_PER_LOOK; i++) sha256Suite.hashPairsInto(pair, 1, hash);
    const endMs = performance.now();
    this.looks.push(((endMs - startMs) * 1000) / HASHES_PER_LOOK);
    this.nextAtMs = endMs + INTERVAL_MS;
  }

  /** Microseconds per hash; there was a look. */
  median(): number {
    const sorted = this.looks.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1] as number;
  }
}
