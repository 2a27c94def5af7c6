/** The thread that writes. There is only one of a store, and only while it has a job. */
import {Piscina} from "piscina";
import type {ImportJob, ImportOutcome} from "../job/importJob.ts";
import type {WorkerSettings} from "../thread/workerStore.ts";

type Pool = Piscina<readonly [ImportJob, WorkerSettings], ImportOutcome>;

/** MiB of garbage before it is collected. V8's own choice is 48, and 12 cost no more: see docs/sizing.md. */
const YOUNG_MB = 12;
/** The thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
const IDLE_MS = 10_000;

/**
 * Of closed engines. The next one takes a thread that may have the EVM loaded, which costs half a second. Only the tests open several
 * engines in a process. A thread that nobody takes ends by itself, and does not keep the process alive.
 */
const free: Pool[] = [];

export class ImportThread {
  /** Taken for the first job: what happens to a free thread before is of an earlier engine. */
  private piscina: Pool | undefined;

  constructor(
    private readonly store: WorkerSettings,
    private readonly onExit: (error: Error) => void,
  ) {}

  /** Runs when the job before it is done. Rejects if the thread dies, or cannot start. */
  async run(job: ImportJob): Promise<ImportOutcome> {
    this.piscina ??= (free.pop() ?? createPool()).on("error", this.onExit);
    const {piscina} = this;
    // Piscina reports a thread that cannot start only by this event, and keeps the task.
    let onError = (_error: Error): void => {};
    const cannotStart = new Promise<never>((_, reject) => {
      onError = reject;
    });
    piscina.on("error", onError);
    try {
      const task = piscina.run([job, this.store], {transferList: [job.port]});
      return await Promise.race([task, cannotStart]);
    } finally {
      piscina.off("error", onError);
    }
  }

  /** Once no job runs. The thread is free for the next engine. */
  async close(): Promise<void> {
    const {piscina} = this;
    this.piscina = undefined;
    piscina?.off("error", this.onExit);
    // It may have kept the task of a thread that could not start.
    if (piscina !== undefined && piscina.queueSize > 0) await piscina.destroy();
    else if (piscina !== undefined) free.push(piscina);
  }
}

function createPool(): Pool {
  const piscina: Pool = new Piscina({
    filename: new URL("../import/importWorker.js", import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: IDLE_MS,
    resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    // While an import waits for its source, the thread must not sleep in Atomics.wait.
    atomics: "disabled",
    // Otherwise a thread that ends would close descriptors that it gave to a socket. The socket has closed them already
    // (import/pipe.ts).
    trackUnmanagedFds: false,
    recordTiming: false,
  });
  // An error of a free thread is nobody's. Without a listener it would end the process.
  return piscina.on("error", () => {});
}
