/**
 * The thread that writes. It runs one import at a time. It opens the store again for each job, so that nothing cached of
 * a refused block outlives the job.
 */

import type {ImportJob, ImportOrder, ImportOutcome, NumberedOrder} from "../messages/importJob.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {openWorkerStore, type WorkerSettings} from "../threads/workerStore.ts";
import {Importer} from "./importer.ts";

yieldToOtherThreads(Niceness.IMPORT);

export default async function run([job, settings]: readonly [
  ImportJob,
  WorkerSettings,
]): Promise<ImportOutcome> {
  const store = await openWorkerStore(settings);
  const stopping = new AbortController();
  /** Orders that came before the importer was created. */
  const waiting: NumberedOrder[] = [];
  let take = (order: NumberedOrder): void => void waiting.push(order);
  job.port.on("message", (order: ImportOrder) => (order === "stop" ? stopping.abort() : take(order)));
  try {
    const importer = await Importer.create(store, job, event => job.port.postMessage(event));
    take = order => importer.take(order);
    waiting.forEach(take);
    stopping.signal.addEventListener("abort", () => importer.stop());
    if (stopping.signal.aborted) importer.stop();
    return await importer.run();
  } finally {
    job.port.close();
    await store.close();
  }
}
