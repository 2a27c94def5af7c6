/**
 * The threads that estimate gas. Some are for jobs with a slice and start with the pool. The others are for long estimates
 * and start when the first one comes.
 */
import {EventEmitter} from "node:events";
import type {EstimateWorkerSettings} from "../estimate/estimateWorker.ts";
import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import {MAX_STRETCH, SLICES} from "../job/estimateSlices.ts";
import {memoryOf} from "../job/pausedEstimate.ts";
import {ThreadPool} from "./threadPool.ts";

/**
 * One job is worked on. The next lies in the thread's own mailbox, so the thread need not wait for the main thread: 1.1 to 1.2
 * times as many transfers a second. Proof threads get one job at a time: while one is busy, more calls gather for its next task.
 * Long estimates also go one at a time, because they take turns before they come here.
 */
const ESTIMATES_PER_THREAD = 2;
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
 * @param workers - threads for jobs with a slice
 */
export function countLongWorkers(workers: number): number {
  return Math.max(1, workers >> 1);
}

export class EstimateThreads {
  private readonly sliced: ThreadPool<EstimateJob, EstimateAnswers>;
  private readonly long: ThreadPool<EstimateJob, EstimateAnswers>;
  /** Wall-clock limit of a call without a slice. */
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

  /** Runs on a thread for its kind of job. Rejects if that thread dies, cannot start, or is stuck and replaced. */
  async estimate(job: EstimateJob): Promise<EstimateAnswers> {
    const isSliced = job.slice !== undefined;
    // The job before it may have the longest slice.
    const callMs = isSliced ? SLICES.second.clockMs : this.longMs;
    const limitMs = ESTIMATES_PER_THREAD * callMs * job.calls.length + GRACE_MS;
    // Not AbortSignal.timeout: its weak references cost the main thread a tenth of a short estimate's time.
    const signal = new EventEmitter();
    const timer = setTimeout(() => signal.emit("abort"), limitMs);
    try {
      const transferList = job.paused === undefined ? [] : [memoryOf(job.paused).buffer];
      return await (isSliced ? this.sliced : this.long).run(job, {signal, transferList});
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
