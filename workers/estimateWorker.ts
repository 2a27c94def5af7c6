/**
 * An estimate thread: opens the store once, then answers tasks.
 */
import {Estimator} from "./estimate/estimator.ts";
import type {EstimateAnswers, EstimateJob, EstimateSettings} from "./job.ts";
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

/** The estimate under way: its EVM can run one at a time, and the pool hands the next one over before it ends. */
let last: Promise<unknown> = Promise.resolve();

export default function estimate(job: EstimateJob): Promise<EstimateAnswers> {
  const answers = last.then(() => estimator.answer(job));
  last = answers.catch(() => {});
  return answers;
}
