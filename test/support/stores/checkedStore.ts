/** What a check of a store finds. */
import type {CheckOutcome} from "../../../workers/job/checkJob.ts";
import {startCheck} from "../../../workers/pool/runningCheck.ts";

export interface CheckedStore extends CheckOutcome {
  /** `where: what` of each finding. */
  readonly found: readonly string[];
}

/** Checks the whole store, even if a process has it open. */
export async function checkStore(directory: string): Promise<CheckedStore> {
  const found: string[] = [];
  const running = startCheck({directory, extent: "records"}, event => {
    if (event.kind === "finding") found.push(`${event.where}: ${event.what}`);
  });
  return {...(await running.outcome), found};
}
