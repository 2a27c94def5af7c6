/** When things are due, on one clock for all threads. */

/** performance.now() starts at 0 in each thread; this makes the threads' times comparable. */
const OFFSET_MS = Number(process.hrtime.bigint()) / 1e6 - performance.now();

/** Milliseconds of the computer's monotonic clock, the same in every thread. */
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
 * When requests are due in an open loop: at even intervals, with the threads taking turns.
 *
 *   thread 0   |0       |3       |6           request k of the whole is due at start + k / rate
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

  /** When this thread's next request is due. */
  get dueMs(): number {
    return this.startMs + (1000 * (this.thread + this.next * this.threads)) / this.rate;
  }

  /** Goes on to the next request. */
  advance(): void {
    this.next++;
  }
}
