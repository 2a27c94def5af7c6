/** The main thread's end of a check, which has a thread of its own. */
import {StoreError} from "../../storage/errors.ts";
import type {CheckEnd, CheckEvent, CheckJob, CheckOutcome} from "../messages/checkJob.ts";
import {startOwnThread} from "./ownThread.ts";
import type {Running} from "./running.ts";

/** MiB of garbage before it is collected. It holds on to blocks and pages, and V8's own choice is 48. */
const YOUNG_MB = 12;

/** The outcome rejects with a StoreError if there is no store to check, or if it cannot be read. */
export function startCheck(job: CheckJob, onEvent: (event: CheckEvent) => void): Running<CheckOutcome> {
  const {outcome, stop} = startOwnThread<CheckJob, CheckEvent, CheckEnd>(
    {
      kind: "check",
      module: new URL("../chain/checkWorker.js", import.meta.url),
      resourceLimits: {maxYoungGenerationSizeMb: YOUNG_MB},
    },
    job,
    onEvent,
  );
  const read = (end: CheckEnd): CheckOutcome => {
    if ("refused" in end) throw new StoreError(end.refused, end.message);
    return end;
  };
  return {outcome: outcome.then(read), stop};
}
