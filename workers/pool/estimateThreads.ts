/**
 * The threads that estimate gas, of two kinds: those for jobs with a slice, started with the pool, and those for estimates
 * that take long, started when the first one comes.
 */
import {EventEmitter} from "node:events";
import type {EstimateWorkerSettings} from "../estimate/estimateWorker.ts";
import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import {MAX_STRETCH, SLICES} from "../job/estimateSlices.ts";
import {ThreadPool} from "./threadPool.ts";

/**
 * One is worked on, the next lies in the thread's own mailbox and need not wait for the main thread's turn: 1.1 to 1.2 times as
 * many transfers a second. Not so for proofs: while their thread waits, more calls come together for its next task. Nor for long
 * estimates, which take turns outside.
 */
const ESTIMATES_PER_THREAD = 2;
/**
 * An estimate that still runs this long after its own time and that of the one before it is stuck where no deadline is
 * asked for: its thread is replaced. Far more than a busy machine delays a thread by.
 */
const GRACE_MS = 5000;

/**
 * How many threads there are for estimates that take long, 30 MB each. No nicer than the others: beside proofs that take every
 * core, at niceness 15 a call would get a twentieth of its time in four times that by the clock, at 10 a third.
 *
 * @param workers - threads for jobs with a slice
 */
export function countLongWorkers(workers: number): number {
  return Math.max(1, workers >> 1);
}

export class EstimateThreads {
  private readonly sliced: ThreadPool<EstimateJob, EstimateAnswers>;
  private readonly long: ThreadPool<EstimateJob, EstimateAnswers>;
  /** By the clock, of a call that has no slice. */
  private readonly longMs: number;

  /** @param workers - threads for jobs with a slice, at least 1 */
  constructor(workers: number, workerData: EstimateWorkerSettings, onExit: (error: Error) => void) {
    const filename = new URL("../estimate/estimateWorker.js", import.meta.url).href;
    this.longMs = MAX_STRETCH * workerData.settings.timeMs;
    const slicedOptions = {
      filename,
      minThreads: workers,
      maxThreads: workers,
      concurrentTasksPerWorker: ESTIMATES_PER_THREAD,
      workerData,
    };
    this.sliced = new ThreadPool("estimate", slicedOptions, onExit);
    const longOptions = {
      filename,
      minThreads: 0,
      maxThreads: countLongWorkers(workers),
      idleTimeout: Number.POSITIVE_INFINITY,
      workerData,
    };
    this.long = new ThreadPool("long estimate", longOptions, onExit);
  }

  /** Rejects with the reason if a thread cannot start. */
  async start(): Promise<void> {
    await this.sliced.run({calls: [], ids: []});
  }

  /** Runs on one thread of those for its kind of job. Rejects if that thread dies, or is stuck and replaced. */
  async estimate(job: EstimateJob): Promise<EstimateAnswers> {
    const isSliced = job.slice !== undefined;
    // The one before it may be of the longest slice.
    const callMs = isSliced ? SLICES.second.clockMs : this.longMs;
    const limitMs = ESTIMATES_PER_THREAD * callMs * job.calls.length + GRACE_MS;
    // Not AbortSignal.timeout: its weak references take the main thread a tenth of a short estimate's time.
    const signal = new EventEmitter();
    const timer = setTimeout(() => signal.emit("abort"), limitMs);
    try {
      return await (isSliced ? this.sliced : this.long).run(job, {signal});
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.sliced.close(), this.long.close()]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.sliced.destroy(), this.long.destroy()]);
  }
}
