/**
 * The thread of one check. What it says crosses as CheckMessages; the message "stop" asks it to end.
 */
import {parentPort, workerData} from "node:worker_threads";
import {StoreError} from "../../storage/errors.ts";
import type {CheckJob, CheckMessage} from "../job/checkJob.ts";
import {Niceness, yieldToOtherThreads} from "../thread/threadPriority.ts";
import {Check} from "./check.ts";

const say = (message: CheckMessage): void => parentPort?.postMessage(message);

const job = workerData as CheckJob;
// Beside a service; `proofd check` has a process of its own, whose priority is the operator's.
if (job.bytesPerSecond !== undefined) yieldToOtherThreads(Niceness.CHECK);
const stopping = new AbortController();
parentPort?.once("message", () => stopping.abort());
try {
  say({kind: "outcome", outcome: await new Check(job, stopping.signal, say).run()});
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  // An error that is thrown loses its code on the way.
  say({kind: "refused", code: error.code, message: error.message});
} finally {
  parentPort?.close();
}
