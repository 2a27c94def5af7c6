/**
 * A store and one thread that estimates on it, with any settings that are asked for. For tests in which only the answers
 * count: an engine has two threads for each settings, and every one of them loads and warms up the EVM again.
 *
 * The test's own thread would be slower still, because node:test watches every promise there, and the EVM makes one for each
 * opcode.
 */
import {StateStore} from "../../../storage/stateStore.ts";
import type {EstimateAnswers, EstimateJob} from "../../../workers/messages/estimateJob.ts";
import type {EstimateSettings} from "../../../workers/messages/estimateSettings.ts";
import {ThreadPool} from "../../../workers/threads/threadPool.ts";

export interface SharedEstimateJob {
  readonly job: EstimateJob;
  readonly settings: EstimateSettings;
}

export class SharedEstimates {
  readonly directory: string;
  private readonly owner: StateStore;
  private readonly threads: ThreadPool<SharedEstimateJob, EstimateAnswers>;

  private constructor(directory: string, owner: StateStore) {
    this.directory = directory;
    this.owner = owner;
    const filename = new URL("sharedEstimateWorker.js", import.meta.url).href;
    const workerData = {directory, cacheBytes: 16 << 20};
    this.threads = new ThreadPool(
      "shared estimate",
      {filename, name: "estimate", minThreads: 1, maxThreads: 1, workerData},
      error => {
        throw error;
      },
    );
  }

  /** @param directory - of a store that no one has open */
  static async open(directory: string): Promise<SharedEstimates> {
    return new SharedEstimates(directory, await StateStore.open({directory, role: "owner", cacheBytes: 0}));
  }

  estimate(job: EstimateJob, settings: EstimateSettings): Promise<EstimateAnswers> {
    return this.threads.run({job, settings});
  }

  async close(): Promise<void> {
    await this.threads.close();
    await this.owner.close();
  }
}
