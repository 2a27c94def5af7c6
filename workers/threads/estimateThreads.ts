/**
 * The threads that estimate gas. Some are for first slices and start with the pool. The others are for long estimates
 * and start when the first one comes.
 */
import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, MAX_STRETCH} from "../messages/estimateSlice.ts";
import type {WatchedThread} from "../messages/watchedThread.ts";
import type {ThreadLost} from "./supervisor.ts";
import {ThreadGroup} from "./threadGroup.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

/**
 * One job is worked on. The next lies in the thread's own mailbox, so the thread need not wait for the main thread: 1.1
 * to 1.2 times as many transfers a second. Proof threads get one job at a time: while one is busy, more calls gather
 * for its next task.
 */
const FIRST_JOBS = 2;
/** How many long estimates a thread makes at the same time, in turns, each in an EVM of its own. */
export const LONG_PLACES = 4;
/**
 * An estimate that still runs this long after its own time and that of the one before it is stuck in code that never
 * checks the deadline. Its thread is lost, and another one starts. The thread may have to start first: several seconds
 * on a busy machine.
 */
const GRACE_MS = 30_000;

/**
 * How many threads there are for long estimates, 30 MB each. They have the same niceness as the others, 10: while
 * proofs take every core, a call gets a third of its processor time within four times that wall-clock time. At 15 it
 * would get a twentieth.
 *
 * @param workers - threads for first slices
 */
export function countLongThreads(workers: number): number {
  return Math.max(1, workers >> 1);
}

export class EstimateThreads {
  private readonly first: ThreadGroup<EstimateJob, EstimateAnswers>;
  private readonly long: ThreadGroup<EstimateJob, EstimateAnswers>;
  /** Wall-clock limit of a long call. */
  private readonly longMs: number;

  /**
   * @param workers - threads for first slices, at least 1
   * @param onLost - called each time that a thread died, could not start, or was stuck
   */
  constructor(workers: number, workerData: EstimateWorkerSettings, onLost: (error: ThreadLost) => void) {
    const module = new URL("../estimate/estimateWorker.js", import.meta.url);
    this.longMs = MAX_STRETCH * workerData.settings.timeMs;
    this.first = new ThreadGroup(
      workers,
      {
        kind: "estimate",
        module,
        workerData,
        concurrentTasksPerWorker: FIRST_JOBS,
        begin: run => run({calls: [], ids: []}),
      },
      onLost,
    );
    this.long = new ThreadGroup(
      countLongThreads(workers),
      {kind: "long estimate", module, workerData, concurrentTasksPerWorker: LONG_PLACES},
      onLost,
    );
  }

  get threads(): readonly WatchedThread[] {
    return [...this.first.threads, ...this.long.threads];
  }

  /** Rejects with the reason if a thread cannot start. */
  start(): Promise<void> {
    return this.first.start();
  }

  /** Runs on a thread for its kind of job. Rejects with ThreadLost if that thread dies, cannot start, or is stuck. */
  estimate(job: EstimateJob): Promise<EstimateAnswers> {
    // The thread may have other jobs.
    const jobMs = job.isFirst === true ? FIRST_JOBS * FIRST_SLICE.clockMs : LONG_PLACES * this.longMs;
    const limitMs = jobMs * job.calls.length + GRACE_MS;
    return (job.isFirst === true ? this.first : this.long).run(job, {limitMs});
  }

  async close(): Promise<void> {
    await Promise.all([this.first.close(), this.long.close()]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.first.destroy(), this.long.destroy()]);
  }
}
