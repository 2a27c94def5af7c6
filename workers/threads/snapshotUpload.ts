/** The main thread's end of an upload of a snapshot, which has a thread of its own. */
import type {SnapshotJob, SnapshotOutcome} from "../messages/snapshotJob.ts";
import {startOwnThread} from "./ownThread.ts";
import type {Running} from "./running.ts";

/** The outcome never rejects: a thread that dies is a failure. */
export function startSnapshotUpload(job: SnapshotJob): Running<SnapshotOutcome> {
  const {outcome, stop} = startOwnThread<SnapshotJob, never, SnapshotOutcome>(
    {kind: "snapshot", module: new URL("../publish/snapshotWorker.js", import.meta.url)},
    job,
  );
  return {outcome: outcome.catch((error: Error) => ({failure: error.message})), stop};
}
