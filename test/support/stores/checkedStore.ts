/** What a check of a store finds. */
import {Check} from "../../../workers/chain/storeCheck.ts";
import type {CheckOutcome} from "../../../workers/messages/checkJob.ts";

interface CheckedStore extends CheckOutcome {
  /** `where: what` of each finding. */
  readonly found: readonly string[];
}

/** Checks the whole store, or `sample` leaves of it, even if a process has it open. In the test's own thread: a new one costs 0.3 s of processor time. */
export async function checkStore(directory: string, sample?: number): Promise<CheckedStore> {
  const found: string[] = [];
  const check = new Check({directory, extent: "records", sample}, new AbortController().signal, event => {
    if (event.kind === "finding") found.push(`${event.where}: ${event.what}`);
  });
  return {...(await check.run()), found};
}
