/**
 * The main thread's end of a check, which has a thread of its own.
 */
import {Worker} from "node:worker_threads";
import {StoreError} from "../../storage/errors.ts";
import type {CheckEvent, CheckJob, CheckMessage, CheckOutcome} from "../job/checkJob.ts";
import type {Running} from "./running.ts";

/** MiB of garbage before it is collected. It holds on to blocks and pages, and V8's own choice is 48. */
const YOUNG_MB = 12;

/** The outcome rejects with a StoreError if there is no store to check, or if it cannot be read. */
export function startCheck(job: CheckJob, onEvent: (event: CheckEvent) => void): Running<CheckOutcome> {
  const worker = new Worker(new URL("../check/checkWorker.js", import.meta.url), {
    workerData: job,
    resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
  });
  const outcome = new Promise<CheckOutcome>((resolve, reject) => {
    let settle = (): void => reject(new Error("the thread of the check ended before it was done"));
    worker.on("message", (message: CheckMessage) => {
      if (message.kind === "outcome") settle = () => resolve(message.outcome);
      else if (message.kind === "refused")
        settle = () => reject(new StoreError(message.code, message.message));
      else onEvent(message);
    });
    worker.on("error", reject);
    worker.on("exit", () => settle());
  });
  return {outcome, stop: () => worker.postMessage("stop")};
}
