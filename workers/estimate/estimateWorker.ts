/**
 * An estimate thread: opens the store once, then answers tasks.
 */

import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {Niceness, yieldToOtherThreads} from "../thread/threadPriority.ts";
import {openWorkerStore, readWorkerSettings, type WorkerSettings} from "../thread/workerStore.ts";
import {Estimator} from "./estimator.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

yieldToOtherThreads(Niceness.ESTIMATE);
const {settings, chainId} = readWorkerSettings<EstimateWorkerSettings>();
const estimator = new Estimator((await openWorkerStore()).reader, settings, chainId);

/** The running estimate. The EVM runs one at a time, but the engine hands over the next job before this one ends. */
let last: Promise<unknown> = Promise.resolve();

export default function estimate(job: EstimateJob): Promise<EstimateAnswers> {
  const answers = last.then(() => estimator.answer(job));
  last = answers.catch(() => {});
  return answers;
}
