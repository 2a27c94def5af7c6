/**
 * The check job: re-hashes what the store holds and reports every finding as it comes.
 */
import {checkBlock, checkEverything, checkNote, checkSample} from "../storage/check/check.ts";
import type {Findings} from "../storage/check/findings.ts";
import type {StateStore} from "../storage/stateStore.ts";
import type {CheckJob, CheckOutcome} from "./job.ts";

const PROGRESS_INTERVAL_MS = 500;

/** @param signal - ends the check early; what was found until then counts */
export async function runCheck(store: StateStore, job: CheckJob, signal: AbortSignal): Promise<CheckOutcome> {
  let reportedAt = performance.now();
  const findings: Findings = {
    blocks: 0,
    pages: 0,
    leaves: 0,
    findings: 0,
    report(where, what) {
      this.findings++;
      job.port.postMessage({kind: "finding", where, what});
    },
    async pause(of) {
      if (performance.now() - reportedAt > PROGRESS_INTERVAL_MS) {
        reportedAt = performance.now();
        job.port.postMessage({kind: "progress", done: this.pages, of});
        await new Promise(resolve => setImmediate(resolve));
      }
      return !signal.aborted;
    },
  };
  await checkNote(store, findings);
  const block = job.block ?? (await store.latest());
  if (block === undefined) return {blocks: 0, pages: 0, leaves: 0, findings: findings.findings};
  if (job.sample !== undefined) await checkSample(store, block, job.sample, findings);
  else if (job.block !== undefined) await checkBlock(store, block, findings);
  else await checkEverything(store, findings);
  const {blocks, pages, leaves} = findings;
  return {blocks, pages, leaves, findings: findings.findings};
}
