/** The thread of SharedEstimates: an estimator for each settings, all on one store. */
import {inspect} from "node:util";
import {Estimator} from "../../../workers/estimate/estimator.ts";
import type {EstimateAnswers} from "../../../workers/messages/estimateJob.ts";
import {openWorkerStore} from "../../../workers/threads/workerStore.ts";
import type {SharedEstimateJob} from "./sharedEstimates.ts";

const {reader} = await openWorkerStore();
const estimators = new Map<string, Estimator>();

export function estimate({job, settings}: SharedEstimateJob): Promise<EstimateAnswers> {
  const key = inspect(settings);
  const estimator = estimators.get(key) ?? new Estimator(reader, settings, undefined);
  estimators.set(key, estimator);
  return estimator.answer(job);
}
