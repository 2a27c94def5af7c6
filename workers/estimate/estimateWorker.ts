/**
 * An estimate thread: opens the store once, then answers tasks. The EVM is loaded with the first call: a tenth of a second of
 * processor time, and 16 MB.
 */

import type {EstimateAnswers, EstimateJob} from "../job/estimateJob.ts";
import type {EstimateSettings} from "../job/estimateSettings.ts";
import {memoryOf} from "../job/pausedEstimate.ts";
import {Niceness, yieldToOtherThreads} from "../thread/threadPriority.ts";
import {openWorkerStore, readWorkerSettings, type WorkerSettings} from "../thread/workerStore.ts";
import type {Estimator} from "./estimator.ts";

/** What the engine hands to its estimate threads. */
export interface EstimateWorkerSettings extends WorkerSettings {
  readonly settings: EstimateSettings;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
}

const {settings, chainId} = readWorkerSettings<EstimateWorkerSettings>();
const {reader} = await openWorkerStore();
let estimator: Estimator | undefined;

/** The running estimate. The EVM runs one at a time, but the engine hands over the next job before this one ends. */
let last: Promise<unknown> = Promise.resolve();

export default function estimate(job: EstimateJob): Promise<EstimateAnswers> {
  const answers = last.then(() => answer(job));
  last = answers.catch(() => {});
  return answers;
}

async function answer(job: EstimateJob): Promise<EstimateAnswers> {
  // The engine's way to see that the thread has started.
  if (job.calls.length === 0)
    return {text: new Uint8Array(0), ends: new Uint32Array(0), failures: [], unfinished: [], begun: 0};
  if (estimator === undefined) {
    const {Estimator} = await import("./estimator.ts");
    estimator = new Estimator(reader, settings, chainId);
    // Not before: a client waits for this.
    yieldToOtherThreads(Niceness.ESTIMATE);
  }
  const answers = await estimator.answer(job);
  const paused = answers.unfinished.flatMap(({paused}) => (paused === undefined ? [] : [paused]));
  if (paused.length === 0) return answers;
  // Not at the start: it takes 15 ms.
  const {move, transferableSymbol, valueSymbol} = await import("piscina");
  const memories = paused.map(one => memoryOf(one).buffer);
  const moved = {[transferableSymbol]: memories, [valueSymbol]: answers};
  // The pool hands out the value. Its types know neither symbol.
  return move(moved as unknown as ArrayBuffer) as unknown as EstimateAnswers;
}
