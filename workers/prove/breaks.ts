/**
 * Breaks in a long job, in which its thread answers a short one:
 *
 *   long job    ======|         |=========|    |====|              |===
 *   short job         |=========|         |====|    |==============|
 *
 * A break may begin when the long job has gone on for as long as the last break took, and after 2 ms in any case. So a single proof waits
 * for the next page or key of the long job, and a stream of short jobs leaves half of the thread's time to it.
 */
import type {Pages} from "../../storage/cache/pages.ts";

/** Work that lasts longer than this between two checks lets short jobs wait. */
const LONGEST_WAIT_MS = 2;

export interface Breaks {
  /** Hot: long jobs call it for each page or key. */
  check(): void;
}

/** Of short jobs. */
export const NO_BREAKS: Breaks = {check() {}};

export class JobBreaks implements Breaks {
  /** When the next break may begin. */
  private fromMs = 0;

  /**
   * @param pages - that the long job reads
   * @param isWanted - whether a short job waits
   * @param work - does it. It may read the same store, but nothing that it writes to may be the long job's
   */
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
    // An answer may end after so many reads, and those of the break are not its own.
    const reads = this.pages.takeReads();
    this.work();
    this.pages.addReads(reads);
    const endMs = performance.now();
    this.fromMs = endMs + Math.min(endMs - startMs, this.longestWaitMs);
  }
}
