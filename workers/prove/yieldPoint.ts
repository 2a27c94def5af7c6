/**
 * Yield points of a long job, at which its thread answers a short one:
 *
 *   long job    ======|         |=========|    |====|              |===
 *   short job         |=========|         |====|    |==============|
 *
 * The long job yields again once it has run for as long as the last short job took, or for 2 ms. So a single proof
 * waits for the next page or key of the long job, and a stream of short jobs leaves half of the thread's time to the
 * long one.
 */
import type {Pages} from "../../storage/cache/pages.ts";

/** Work that lasts longer than this between two checks lets short jobs wait. */
const LONGEST_WAIT_MS = 2;

export interface YieldPoint {
  /** Hot: long jobs call it for each page or key. */
  check(): void;
}

/** For short jobs. */
export const NEVER_YIELDS: YieldPoint = {check() {}};

export class JobYieldPoint implements YieldPoint {
  /** The long job does not yield before this time. */
  private fromMs = 0;

  /** @param work - does the short job. It may read the store, but must not write to what the long job uses */
  constructor(
    private readonly pages: Pages,
    private readonly isWanted: () => boolean,
    private readonly work: () => void,
    private readonly longestWaitMs = LONGEST_WAIT_MS,
  ) {}

  check(): void {
    if (!this.isWanted()) return;
    const startMs = performance.now();
    if (startMs < this.fromMs) return;
    // The number of reads bounds the long job's answer, so reads of the short job do not count.
    const reads = this.pages.takeReads();
    this.work();
    this.pages.addReads(reads);
    const endMs = performance.now();
    this.fromMs = endMs + Math.min(endMs - startMs, this.longestWaitMs);
  }
}
