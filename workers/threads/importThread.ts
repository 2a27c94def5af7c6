/** The thread that writes. There is only one of a store, and only while it has a job. */
import type {ImportJob, ImportOutcome} from "../messages/importJob.ts";
import {SupervisedThread, type ThreadLost, type ThreadSettings} from "./supervisor.ts";
import type {WorkerSettings} from "./workerStore.ts";

/** MiB of garbage before it is collected. V8's own choice is 48, and 12 cost no more: see docs/sizing.md. */
const YOUNG_MB = 12;
/** The thread ends when it has had nothing to do for this long. That frees the EVM's memory. */
const IDLE_MS = 10_000;

export type ImportThread = SupervisedThread<ImportJob, ImportOutcome>;

/** @param limitMs - a thread that takes no processor time for so long hangs. Default: no limit */
export function createImportThread(
  workerData: WorkerSettings,
  onLost: (error: ThreadLost) => void,
  limitMs?: number,
): ImportThread {
  const settings: ThreadSettings<ImportJob, ImportOutcome> = {
    kind: "import",
    module: new URL("../import/importWorker.js", import.meta.url),
    workerData,
    ...{idleMs: IDLE_MS, limitMs, isWriter: true},
    resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    // While an import waits for its source, the thread must not sleep in Atomics.wait.
    atomics: "disabled",
    // Else a thread that ends would close descriptors that a socket has closed already (nodes/files/inputFile.ts).
    trackUnmanagedFds: false,
  };
  return new SupervisedThread(settings, onLost);
}
