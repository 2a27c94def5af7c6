/** The thread that writes. There is only one of a store, and only while it has a job. */
import {Piscina} from "piscina";
import type {ImportJob, ImportOutcome} from "../job/importJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";

type Task = readonly [ImportJob, WorkerSettings];

/** The thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
const IDLE_MS = 10_000;

/** Of closed engines. The next one takes a thread that may have the EVM loaded, which costs half a second. */
const free: Piscina<Task, ImportOutcome>[] = [];

export class ImportThread {
  private readonly piscina: Piscina<Task, ImportOutcome>;

  constructor(
    private readonly store: WorkerSettings,
    private readonly onExit: (error: Error) => void,
  ) {
    this.piscina =
      free.pop() ??
      new Piscina({
        filename: new URL("../import/importWorker.js", import.meta.url).href,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: IDLE_MS,
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
      const task = this.piscina.run([job, this.store], {transferList: [job.port]});
      return await Promise.race([task, cannotStart]);
    } finally {
      this.piscina.off("error", onError);
    }
  }

  /** Once no job runs. */
  async close(): Promise<void> {
    this.piscina.off("error", this.onExit);
    // It may have kept the task of a thread that could not start.
    if (this.piscina.queueSize > 0) await this.piscina.destroy();
    else free.push(this.piscina);
  }
}
