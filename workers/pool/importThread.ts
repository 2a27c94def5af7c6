/** The thread that writes. There is only one, and only while it has a job. */
import {Piscina} from "piscina";
import type {ImportJob, ImportOutcome} from "../job/importJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";

/** The thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
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
      // While an import waits for its source, the thread must not sleep in Atomics.wait.
      atomics: "disabled",
      // Otherwise a thread that ends would close descriptors that it gave to a socket. The socket has closed them already
      // (import/pipe.ts).
      trackUnmanagedFds: false,
      recordTiming: false,
    });
    this.piscina.on("error", onExit);
  }

  /** Runs when the job before it is done. Rejects if the thread dies, or cannot start. */
  async run(job: ImportJob): Promise<ImportOutcome> {
    // Piscina reports a thread that cannot start only by this event, and keeps the task.
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
