/** The thread that writes: one, and only while it has a job. */
import {Piscina} from "piscina";
import type {ImportJob, ImportOutcome} from "../job/importJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";

/** It ends when it has had nothing to do for this long: the EVM's memory goes with it. */
const IDLE_MS = 1000;

export class ImportThread {
  private readonly piscina: Piscina<ImportJob, ImportOutcome>;

  constructor(workerData: WorkerSettings, onExit: (error: Error) => void) {
    this.piscina = new Piscina({
      filename: new URL("../import/importWorker.js", import.meta.url).href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      workerData,
      // An import waits for its source: the thread must not sleep in Atomics.wait meanwhile.
      atomics: "disabled",
      // A thread that ends would close descriptors a second time that were opened by number and given to a socket, which
      // has closed them (import/pipe.ts).
      trackUnmanagedFds: false,
      recordTiming: false,
    });
    this.piscina.on("error", onExit);
  }

  /** Runs when the job before it is done. Rejects if the thread dies, or cannot start. */
  async run(job: ImportJob): Promise<ImportOutcome> {
    // Piscina tells of a thread that cannot start by this event only, and keeps the task.
    let onError = (_error: Error): void => {};
    const cannotStart = new Promise<never>((_, reject) => {
      onError = reject;
    });
    this.piscina.on("error", onError);
    try {
      return await Promise.race([this.piscina.run(job, {transferList: [job.port]}), cannotStart]);
    } finally {
      this.piscina.off("error", onError);
    }
  }

  destroy(): Promise<void> {
    return this.piscina.destroy();
  }
}
