/**
 * The threads that estimate gas. Some are for first slices and start with the pool. The others are for long estimates and start
 * when the first one comes.
 */
import {EventEmitter} from "node:events";
import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, MAX_STRETCH} from "../messages/estimateSlice.ts";
import {LongThread} from "./longThread.ts";
import {ThreadPool} from "./threadPool.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

/**
 * One job is worked on. The next lies in the thread's own mailbox, so the thread need not wait for the main thread: 1.1 to 1.2
 * times as many transfers a second. Proof threads get one job at a time: while one is busy, more calls gather for its next task.
 */
const FIRST_JOBS = 2;
/** How many long estimates a thread makes at the same time, in turns, each in an EVM of its own. */
export const LONG_PLACES = 4;
/**
 * An estimate that still runs this long after its own time and that of the one before it is stuck in code that never checks
 * the deadline. Its thread is replaced. The thread may have to start first: several seconds on a busy machine. A
 * job whose thread cannot start ends after this time too.
 */
const GRACE_MS = 30_000;

/**
 * How many threads there are for long estimates, 30 MB each. They have the same niceness as the others, 10: while proofs take
 * every core, a call gets a third of its processor time within four times that wall-clock time. At 15 it would get a twentieth.
 *
 * @param workers - threads for first slices
 */
export function countLongThreads(workers: number): number {
  return Math.max(1, workers >> 1);
}

export class EstimateThreads {
  private readonly first: ThreadPool<EstimateJob, EstimateAnswers>;
  private readonly long: readonly LongThread[];
  /** Wall-clock limit of a long call. */
  private readonly longMs: number;

  /** @param workers - threads for first slices, at least 1 */
  constructor(workers: number, workerData: EstimateWorkerSettings, onExit: (error: Error) => void) {
    const filename = new URL("../estimate/estimateWorker.js", import.meta.url).href;
    this.longMs = MAX_STRETCH * workerData.settings.timeMs;
    const firstOptions = {
      filename,
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: FIRST_JOBS,
      workerData,
    };
    this.first = new ThreadPool("estimate", firstOptions, onExit);
    const longOptions = {
      filename,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: LONG_PLACES,
      workerData,
    };
    this.long = Array.from({length: countLongThreads(workers)}, () => new LongThread(longOptions, onExit));
  }

  /** Rejects with the reason if a thread cannot start. */
  async start(): Promise<void> {
    await this.first.run({calls: [], ids: []});
  }

  /** Runs on a thread for its kind of job. Rejects if that thread dies, cannot start, or is stuck and replaced. */
  async estimate(job: EstimateJob): Promise<EstimateAnswers> {
    // The thread may have other jobs.
    const jobMs = job.isFirst === true ? FIRST_JOBS * FIRST_SLICE.clockMs : LONG_PLACES * this.longMs;
    const limitMs = jobMs * job.calls.length + GRACE_MS;
    if (job.isFirst !== true) return this.findLong().estimate(job, limitMs);
    // Not AbortSignal.timeout: its weak references cost the main thread a tenth of a short estimate's time.
    const signal = new EventEmitter();
    const timer = setTimeout(() => signal.emit("abort"), limitMs);
    try {
      return await this.first.run(job, {signal});
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.first, ...this.long].map(one => one.close()));
  }

  async destroy(): Promise<void> {
    await Promise.all([this.first, ...this.long].map(one => one.destroy()));
  }

  private findLong(): LongThread {
    return this.long.reduce((least, one) => (one.jobs < least.jobs ? one : least));
  }
}
