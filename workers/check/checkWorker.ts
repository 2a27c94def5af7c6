/**
 * The thread of one check. It sends CheckMessages. The message "stop" asks it to end.
 */
import {parentPort, workerData} from "node:worker_threads";
import {StoreError} from "../../storage/errors.ts";
import type {CheckJob, CheckMessage} from "../job/checkJob.ts";
import {Niceness, yieldToOtherThreads} from "../thread/threadPriority.ts";
import {Check} from "./check.ts";

const say = (message: CheckMessage): void => parentPort?.postMessage(message);

const job = workerData as CheckJob;
// A check with a byte rate runs inside a service. `proofd check` is its own process, whose priority the operator sets.
if (job.bytesPerSecond !== undefined) yieldToOtherThreads(Niceness.CHECK);
const stopping = new AbortController();
parentPort?.once("message", () => stopping.abort());
try {
  say({kind: "outcome", outcome: await new Check(job, stopping.signal, say).run()});
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  // A thrown error would lose its code on the way to the main thread.
  say({kind: "refused", code: error.code, message: error.message});
} finally {
  parentPort?.close();
}
