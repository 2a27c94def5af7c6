/** The threads that estimate gas: some for first slices, others for long estimates, which the first of those starts. */

import {type Answers, whenSettled} from "../messages/answers.ts";
import type {EstimateSettings} from "../messages/estimateSettings.ts";
import {FIRST_SLICE, MAX_STRETCH} from "../messages/estimateSlice.ts";
import {type PackedJob, refuseJob} from "../messages/jobMailbox.ts";
import type {WatchedThread} from "../messages/watchedThread.ts";
import {type JobOptions, JobThreads, type OnAnswered} from "./jobThreads.ts";
import {freestOf, SupervisedThread} from "./supervisor.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

/** How many long estimates a thread makes at the same time, in turns, each in an EVM of its own. */
export const LONG_PLACES = 4;
/** An estimate that still runs this long after its deadline never checks it. Its thread may have had to start. */
const GRACE_MS = 30_000;
/** Calls of a job with slices, at most (server/dispatch/lanes/lanes.ts). */
const MOST_CALLS = 16;

/**
 * Threads for long estimates, 30 MB each. At niceness 10, like the others, a call gets a third of its processor time
 * within four times that wall-clock time while proofs take every core; at 15, a twentieth.
 */
export function countLongThreads(workers: number): number {
  return Math.max(1, workers >> 1);
}

type LongThread = SupervisedThread<PackedJob, Answers>;

export class EstimateThreads {
  private readonly first: JobThreads;
  private readonly long: readonly LongThread[];
  /** Wall-clock limit of a long call. */
  private readonly longMs: number;

  /** @param workers - for first slices, at least 1 */
  constructor(
    workers: number,
    workerData: EstimateWorkerSettings,
    private readonly options: Pick<JobOptions, "memories" | "complete" | "onLost">,
  ) {
    const module = new URL("../estimate/estimateWorker.js", import.meta.url);
    this.longMs = MAX_STRETCH * workerData.settings.timeMs;
    const limitMs = MOST_CALLS * FIRST_SLICE.clockMs + GRACE_MS;
    this.first = new JobThreads(workers, {kind: "estimate", module, workerData, limitMs}, options);
    const long = {kind: "long estimate", module, workerData, concurrentTasksPerWorker: LONG_PLACES};
    this.long = Array.from(
      {length: countLongThreads(workers)},
      () => new SupervisedThread(long, options.onLost),
    );
  }

  get threads(): readonly WatchedThread[] {
    return [...this.first.threads, ...this.long];
  }

  /** Rejects with the reason if a thread cannot start. */
  start(): Promise<void> {
    return this.first.start();
  }

  /** Runs on a thread for its kind of job. Ends with ThreadLost if that thread dies, cannot start, or is stuck. */
  run(job: PackedJob, onAnswered: OnAnswered): void {
    // Few jobs have more bytes than a mailbox. They are sent, and each call has a slice all the same.
    if (job.isLong !== true && refuseJob(job) === undefined) this.first.run(job, onAnswered);
    else whenSettled(this.runLong(job), onAnswered);
  }

  async close(): Promise<void> {
    await Promise.all([this.first.close(), ...this.long.map(thread => thread.close())]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.first.destroy(), ...this.long.map(thread => thread.destroy())]);
  }

  private async runLong(job: PackedJob): Promise<Answers> {
    // The thread may have other jobs.
    const limitMs = LONG_PLACES * this.longMs * job.ids.length + GRACE_MS;
    // Of a view, the message would have the whole buffer, with all calls of the request.
    const calls = new Uint8Array(job.calls);
    const answers = await freestOf(this.long).run({...job, calls}, {limitMs, transferList: [calls.buffer]});
    return {...answers, failures: this.options.complete(answers.failures)};
  }
}
