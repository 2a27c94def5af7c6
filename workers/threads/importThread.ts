/** The thread that writes. There is only one of a store, and only while it has a job. */
import type {ImportJob, ImportOutcome} from "../messages/importJob.ts";
import {SupervisedThread, type ThreadLost} from "./supervisor.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** MiB of garbage before it is collected. V8's own choice is 48, and 12 cost no more: see docs/sizing.md. */
const YOUNG_MB = 12;
/** The thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
const IDLE_MS = 10_000;

export class ImportThread {
  readonly thread: SupervisedThread<readonly [ImportJob, WorkerSettings], ImportOutcome>;

  /** @param onLost - called each time that it died or could not start */
  constructor(
    private readonly store: WorkerSettings,
    onLost: (error: ThreadLost) => void,
  ) {
    this.thread = new SupervisedThread(
      {
        kind: "import",
        module: new URL("../import/importWorker.js", import.meta.url),
        idleMs: IDLE_MS,
        resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
        // While an import waits for its source, the thread must not sleep in Atomics.wait.
        atomics: "disabled",
        // Otherwise a thread that ends would close descriptors that it gave to a socket. The socket has closed them already
        // (import/pipe.ts).
        trackUnmanagedFds: false,
      },
      onLost,
    );
  }

  /** Runs when the job before it is done. Rejects with ThreadLost if the thread dies, cannot start or is down. */
  run(job: ImportJob): Promise<ImportOutcome> {
    return this.thread.run([job, this.store], {transferList: [job.port]});
  }

  /** Once no job runs. */
  close(): Promise<void> {
    return this.thread.close();
  }
}
