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

/** @param count - at least 1 */
export function createProofThreads(
  count: number,
  workerData: WorkerSettings,
  onExit: (error: Error) => void,
): ThreadPool<ProveJob, Answers> {
  const options = {
    filename: new URL("../prove/proofWorker.js", import.meta.url).href,
    minThreads: count,
    maxThreads: count,
    resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    workerData,
  };
  return new ThreadPool("proof", options, onExit);
}
