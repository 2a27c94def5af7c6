/** The threads that prove: as many as the operator says, started with the pool. */
import type {Answers} from "../job/answers.ts";
import type {ProveJob} from "../job/proveJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";
import {ThreadPool} from "./threadPool.ts";

/**
 * MiB of garbage in a proof thread before it is collected. V8's own choice is 48, most of it long out of the processor's
 * cache. Almost nothing survives a collection, so collecting more often costs no more.
 */
const YOUNG_MB = 12;

export class ProofThreads {
  private readonly threads: ThreadPool<ProveJob, Answers>;

  /** @param count - at least 1 */
  constructor(count: number, workerData: WorkerSettings, onExit: (error: Error) => void) {
    const options = {
      filename: new URL("../prove/proofWorker.js", import.meta.url).href,
      minThreads: count,
      maxThreads: count,
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
      workerData,
    };
    this.threads = new ThreadPool("proof", options, onExit);
  }

  /** Rejects with the reason if a thread cannot start. */
  async start(): Promise<void> {
    await this.threads.run({calls: new Uint8Array(0), ids: []});
  }

  /** Runs on one thread. Rejects if that thread dies; the job's memory is lost then. */
  prove(job: ProveJob): Promise<Answers> {
    return this.threads.run(job, job.memory === undefined ? {} : {transferList: [job.memory]});
  }

  close(): Promise<void> {
    return this.threads.close();
  }

  destroy(): Promise<void> {
    return this.threads.destroy();
  }
}
