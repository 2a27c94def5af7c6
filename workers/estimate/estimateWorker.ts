/** An estimate thread: opens the store once, then answers tasks. The EVM, 16 MB, is loaded with the first call. */

import type {EstimateAnswers, EstimateJob} from "../messages/estimateJob.ts";
import type {EstimateWorkerSettings} from "../threads/estimateThreads.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {openWorkerStore, readWorkerSettings} from "../threads/workerStore.ts";
import type {Estimator} from "./estimator.ts";
import {Turns} from "./turns.ts";

const {settings, chainId} = readWorkerSettings<EstimateWorkerSettings>();
const {reader} = await openWorkerStore();
/** Jobs with a slice go one after the other. Long ones pass when their turns are over. */
const turns = new Turns();
/** As many as there were jobs under way at once. */
const idle: Estimator[] = [];

export default async function estimate(job: EstimateJob): Promise<EstimateAnswers> {
  // The engine's way to see that the thread has started.
  if (job.calls.length === 0)
    return {text: new Uint8Array(0), ends: new Uint32Array(0), failures: [], unfinished: [], begun: 0};
  return turns.take(async () => {
    const estimator = idle.pop() ?? (await createEstimator());
    try {
      return await estimator.answer(job);
    } finally {
      idle.push(estimator);
    }
  });
}

async function createEstimator(): Promise<Estimator> {
  const {Estimator} = await import("./estimator.ts");
  const estimator = new Estimator(reader, settings, chainId, turns);
  // Not before: a client waits for this.
  yieldToOtherThreads(Niceness.ESTIMATE);
  return estimator;
}
