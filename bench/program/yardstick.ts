/**
 * Measures the speed of the machine during another measurement, as the time of a SHA-256 of 64 bytes, the hash of a
 * branch.
 *
 * The speed of shared machines changes threefold within minutes, so a cost in hashes is easier to compare than
 * microseconds. A sample is a burst much shorter than a time slice, so that other processes hardly change the median.
 * It is that of as-sha256, whatever the store's suite and code use, so that the ratios of all commits mean the same.
 */
import {hashInto} from "@chainsafe/as-sha256";

const WARM_UP_SAMPLES = 20;

const pair = new Uint8Array(64);
const hash = new Uint8Array(32);

export class Yardstick {
  private readonly samplesUs: number[] = [];
  private nextAtMs = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly hashes: number,
    private readonly everyMs: number,
  ) {
    for (let i = 0; i < WARM_UP_SAMPLES; i++) this.hash();
  }

  /** Samples if it is time to. For callers that measure synchronous tasks. */
  sampleIfDue(): void {
    const startMs = performance.now();
    if (startMs < this.nextAtMs) return;
    this.sample();
    this.nextAtMs = performance.now() + this.everyMs;
  }

  start(): void {
    this.sample();
    this.timer = setInterval(() => this.sample(), this.everyMs);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Median time of a hash so far; NaN before the first sample. */
  get medianUs(): number {
    const sorted = this.samplesUs.toSorted((a, b) => a - b);
    return sorted[sorted.length >> 1] ?? Number.NaN;
  }

  private sample(): void {
    const startMs = performance.now();
    this.hash();
    this.samplesUs.push(((performance.now() - startMs) * 1000) / this.hashes);
  }

  private hash(): void {
    for (let i = 0; i < this.hashes; i++) hashInto(pair, hash);
  }
}
