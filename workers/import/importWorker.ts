/** The thread that writes. It opens the store for each job, so that nothing cached of a refused block outlives it. */

import type {ImportCommand, ImportJob, ImportOutcome} from "../messages/importJob.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {keepPulse, ThreadPulse} from "../threads/threadPulse.ts";
import {openWorkerStore} from "../threads/workerStore.ts";
import {Importer} from "./importer.ts";

yieldToOtherThreads(Niceness.IMPORT);
keepPulse();

export default async function run(job: ImportJob): Promise<ImportOutcome> {
  new ThreadPulse(job.pulse).begin();
  const store = await openWorkerStore();
  try {
    const importer = await Importer.create(store, job, event => job.port.postMessage(event));
    // The port has kept earlier messages.
    job.port.on("message", (command: ImportCommand) =>
      command === "stop" ? importer.stop() : importer.take(command),
    );
    return await importer.run();
  } finally {
    job.port.close();
    await store.close();
  }
}
