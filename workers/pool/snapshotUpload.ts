/** The main thread's end of an upload of a snapshot, which has a thread of its own. */
import {Worker} from "node:worker_threads";
import type {SnapshotJob, SnapshotOutcome} from "../job/snapshotJob.ts";
import type {Running} from "./running.ts";

/** The outcome never rejects: a thread that dies is a failure. */
export function startSnapshotUpload(job: SnapshotJob): Running<SnapshotOutcome> {
  const worker = new Worker(new URL("../feed/snapshotWorker.js", import.meta.url), {workerData: job});
  const outcome = new Promise<SnapshotOutcome>(resolve => {
    let settled: SnapshotOutcome = {failure: "the thread of the upload ended before it was done"};
    worker.on("message", (message: SnapshotOutcome) => {
      settled = message;
    });
    worker.on("error", error => {
      settled = {failure: error.message};
    });
    worker.on("exit", () => resolve(settled));
  });
  return {outcome, stop: () => worker.postMessage("stop")};
}
