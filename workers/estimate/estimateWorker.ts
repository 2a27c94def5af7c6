/**
 * An estimate thread: opens the store once. One for first slices gets jobs as proof threads do (prove/proofWorker.ts), one
 * for long estimates as messages, several at the same time. The EVM, 16 MB, is loaded with the first call.
 */
import {splitMemories} from "../messages/answerMemory.ts";
import type {Answers} from "../messages/answers.ts";
import {JobMailbox, type JobPost, type PackedJob, postAnswers} from "../messages/jobMailbox.ts";
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

export default function work(work: JobPost | PackedJob): Promise<Answers | undefined> {
  return "mailbox" in work ? answerJobs(work) : turns.take(() => answer(work));
}

async function answerJobs({mailbox, memories, port}: JobPost): Promise<undefined> {
  const jobs = new JobMailbox(mailbox);
  const texts = splitMemories(memories);
  for (let job = jobs.take(); job !== undefined; job = jobs.take()) {
    const {place, ends} = job;
    const memory = job.memory === undefined ? undefined : texts[job.memory];
    try {
      postAnswers(port, place, await answer(job, memory, ends), memory);
    } catch (error) {
      port.postMessage({place, error});
    }
  }
}

async function answer(job: PackedJob, memory?: Buffer, ends?: Uint32Array): Promise<Answers> {
  // The engine's way to see that the thread has started.
  if (job.ids.length === 0)
    return {text: memory ?? new Uint8Array(0), ends: new Uint32Array(0), failures: []};
  const estimator = idle.pop() ?? (await createEstimator());
  try {
    return await estimator.answer(job, memory, ends);
  } finally {
    idle.push(estimator);
  }
}

async function createEstimator(): Promise<Estimator> {
  const {Estimator} = await import("./estimator.ts");
  const estimator = new Estimator(reader, settings, chainId, turns);
  // Not before: a client waits for this.
  yieldToOtherThreads(Niceness.ESTIMATE);
  return estimator;
}
