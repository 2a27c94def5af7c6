/**
 * An estimate thread: opens the store once, then answers tasks.
 */
import {Estimator} from "./estimate/estimator.ts";
import type {Answers, EstimateJob, EstimateSettings} from "./job.ts";
import {Niceness, yieldToOtherThreads} from "./threadPriority.ts";
import {openWorkerStore, readWorkerSettings, type WorkerSettings} from "./workerStore.ts";

/** What the pool hands to its estimate threads. */
interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** Of a chain whose block 0 names none. */
  readonly chainId: bigint | undefined;
}

yieldToOtherThreads(Niceness.ESTIMATE);
const {settings, chainId} = readWorkerSettings<EstimateWorkerSettings>();
const estimator = new Estimator(await openWorkerStore(), settings, chainId);

export default function estimate(job: EstimateJob): Promise<Answers> {
  return estimator.answer(job);
}
