/** The threads that estimate gas: some for first slices, others for long estimates, which the first of those starts. */
import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, MAX_STRETCH} from "../messages/estimateSlice.ts";
import {freestOf, SupervisedThread, type ThreadLost, type ThreadSettings} from "./supervisor.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

/**
 * The next job lies in the thread's own mailbox: 1.1 to 1.2 times as many transfers a second. Proof threads get one,
 * since more calls gather for their next task.
 */
const FIRST_JOBS = 2;
/** How many long estimates a thread makes at the same time, in turns, each in an EVM of its own. */
export const LONG_PLACES = 4;
/** An estimate that still runs this long after its deadline never checks it. Its thread may have had to start. */
const GRACE_MS = 30_000;

/**
 * Threads for long estimates, 30 MB each. At niceness 10, like the others, a call gets a third of its processor time
 * within four times that wall-clock time while proofs take every core; at 15, a twentieth.
 */
export function countLongThreads(workers: number): number {
  return Math.max(1, workers >> 1);
}

type EstimateThread = SupervisedThread<EstimateJob, EstimateAnswers>;

export class EstimateThreads {
  private readonly first: readonly EstimateThread[];
  private readonly long: readonly EstimateThread[];
  /** Wall-clock limit of a long call. */
  private readonly longMs: number;

  /** @param workers - for first slices, at least 1. @param onLost - called when a thread died, hung or did not start */
  constructor(workers: number, workerData: EstimateWorkerSettings, onLost: (error: ThreadLost) => void) {
    const module = new URL("../estimate/estimateWorker.js", import.meta.url);
    this.longMs = MAX_STRETCH * workerData.settings.timeMs;
    const first: ThreadSettings<EstimateJob, EstimateAnswers> = {
      ...{kind: "estimate", module, workerData, concurrentTasksPerWorker: FIRST_JOBS},
      begin: run => run({calls: [], ids: []}),
    };
    const long = {kind: "long estimate", module, workerData, concurrentTasksPerWorker: LONG_PLACES};
    this.first = Array.from({length: workers}, () => new SupervisedThread(first, onLost));
    this.long = Array.from({length: countLongThreads(workers)}, () => new SupervisedThread(long, onLost));
  }

  get threads(): readonly EstimateThread[] {
    return [...this.first, ...this.long];
  }

  /** Rejects with the reason if a thread cannot start. */
  async start(): Promise<void> {
    await Promise.all(this.first.map(thread => thread.start()));
  }

  /** Runs on a thread for its kind of job. Rejects with ThreadLost if that thread dies, cannot start, or is stuck. */
  estimate(job: EstimateJob): Promise<EstimateAnswers> {
    // The thread may have other jobs.
    const jobMs = job.isFirst === true ? FIRST_JOBS * FIRST_SLICE.clockMs : LONG_PLACES * this.longMs;
    const limitMs = jobMs * job.calls.length + GRACE_MS;
    return freestOf(job.isFirst === true ? this.first : this.long).run(job, {limitMs});
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.close()));
  }

  async destroy(): Promise<void> {
    await Promise.all(this.threads.map(thread => thread.destroy()));
  }
}
