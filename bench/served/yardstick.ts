/**
 * The speed of the machine while something else is measured: one SHA-256 of 64 bytes, as a tree's branch is hashed.
 *
 * Shared machines differ threefold from minute to minute; what a request costs in such hashes travels better than
 * microseconds. Bursts of a millisecond are short against a time slice, so their median has little of other processes' turns.
 */
import {sha256Suite} from "../../storage/hash/sha256Suite.ts";

const BURST = 500;
const EVERY_MS = 100;
const WARM_UP_BURSTS = 20;

const pair = new Uint8Array(64);
const hash = new Uint8Array(32);

export class Yardstick {
  readonly #burstsUs: number[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor() {
    for (let i = 0; i < WARM_UP_BURSTS; i++) hashBurst();
  }

  /** Bursts from now on: 1 % of a core. */
  start(): void {
    this.#burstsUs.push(hashBurst());
    this.#timer = setInterval(() => this.#burstsUs.push(hashBurst()), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Microseconds per hash, the median so far. */
  get hashUs(): number {
    const sorted = this.#burstsUs.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1] ?? Number.NaN;
  }
}

function hashBurst(): number {
  const startMs = performance.now();
  for (let i = 0; i < BURST; i++) sha256Suite.hashPairsInto(pair, 1, hash);
  return ((performance.now() - startMs) * 1000) / BURST;
}
