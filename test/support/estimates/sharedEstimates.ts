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
import {SupervisedThread} from "../../../workers/threads/supervisedThread.ts";

export interface SharedEstimateJob {
  readonly job: EstimateJob;
  readonly settings: EstimateSettings;
}

export class SharedEstimates {
  readonly directory: string;
  private readonly owner: StateStore;
  private readonly thread: SupervisedThread<SharedEstimateJob, EstimateAnswers>;

  private constructor(directory: string, owner: StateStore) {
    this.directory = directory;
    this.owner = owner;
    const module = new URL("sharedEstimateWorker.js", import.meta.url);
    const workerData = {directory, cacheBytes: 16 << 20};
    this.thread = new SupervisedThread({kind: "shared estimate", module, workerData}, error => {
      throw error;
    });
  }

  /** @param directory - of a store that no one has open */
  static async open(directory: string): Promise<SharedEstimates> {
    return new SharedEstimates(directory, await StateStore.open({directory, role: "owner", cacheBytes: 0}));
  }

  estimate(job: EstimateJob, settings: EstimateSettings): Promise<EstimateAnswers> {
    return this.thread.run({job, settings}, {name: "estimate"});
  }

  async close(): Promise<void> {
    await this.thread.close();
    await this.owner.close();
  }
}
