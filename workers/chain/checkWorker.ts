/** The thread of one check. */
import {StoreError} from "../../storage/errors.ts";
import type {CheckEnd, CheckJob} from "../messages/checkJob.ts";
import type {OwnJob} from "../threads/ownThread.ts";
import {Niceness, yieldToOtherThreads} from "../threads/threadPriority.ts";
import {Check} from "./storeCheck.ts";

export default async function run({job, port}: OwnJob<CheckJob>): Promise<CheckEnd> {
  // A check with a byte rate runs inside a service. `proofd check` has the priority that the operator set.
  if (job.bytesPerSecond !== undefined) yieldToOtherThreads(Niceness.CHECK);
  const stopping = new AbortController();
  port.once("message", () => stopping.abort());
  try {
    return await new Check(job, stopping.signal, event => port.postMessage(event)).run();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // A thrown error would lose its code.
    return {refused: error.code, message: error.message};
  } finally {
    port.close();
  }
}
