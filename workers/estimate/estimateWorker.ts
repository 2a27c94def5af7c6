/**
 * An estimate thread: opens the store once, then answers tasks.
 */

import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {Niceness, yieldToOtherThreads} from "../thread/threadPriority.ts";
import {openWorkerStore, readWorkerSettings, type WorkerSettings} from "../thread/workerStore.ts";
import {Estimator} from "./estimator.ts";

/** What the pool hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** Of a chain whose block 0 names none. */
  readonly chainId: bigint | undefined;
}

yieldToOtherThreads(Niceness.ESTIMATE);
const {settings, chainId} = readWorkerSettings<EstimateWorkerSettings>();
const estimator = new Estimator((await openWorkerStore()).reader, settings, chainId);

/** The estimate under way: its EVM can run one at a time, and the pool hands the next one over before it ends. */
let last: Promise<unknown> = Promise.resolve();

export default function estimate(job: EstimateJob): Promise<EstimateAnswers> {
  const answers = last.then(() => estimator.answer(job));
  last = answers.catch(() => {});
  return answers;
}
