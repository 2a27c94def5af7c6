/** The clock that all threads share, and when requests are due. */

/** performance.now() starts at 0 in each thread. The offset makes times comparable. */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** The system's monotonic clock, the same in all threads. */
export function nowMs(): number {
  return performance.now() + OFFSET_MS;
}

/** Times on the clock of nowMs. */
export interface Times {
  readonly startMs: number;
  readonly measureMs: number;
  readonly endMs: number;
}

/**
 * When requests are due in an open loop: at equal intervals, round robin over the threads.
 *
 *   thread 0   |0       |3       |6           request k of all threads is due at start + k / rate
 *   thread 1      |1       |4
 *   thread 2         |2       |5
 */
export class Schedule {
  private next = 0;

  constructor(
    private readonly startMs: number,
    private readonly rate: number,
    private readonly threads: number,
    private readonly thread: number,
  ) {}

  get dueMs(): number {
    return this.startMs + (1000 * (this.thread + this.next * this.threads)) / this.rate;
  }

  advance(): void {
    this.next++;
  }
}
