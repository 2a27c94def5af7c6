/** `proofd check`: reports damage in a store's files and records. Read-only. */

import {count} from "../../client/bytes/values.ts";
import {openFailed} from "../../server/lifecycle/workError.ts";
import type {CheckEvent, CheckJob, CheckOutcome} from "../../workers/messages/checkJob.ts";
import {startCheck} from "../../workers/threads/runningCheck.ts";
import {ExitCode, exitCodeOf, type StopSignal, watchSignals} from "../exitCode.ts";

type CheckOptions = Pick<CheckJob, "block" | "sample"> & {readonly db: string};

const PROGRESS_EVERY_MS = 3_000;
const MB = 1e6;

/** @returns FAILED if anything is damaged, else the code of the signal that stopped the check, or OK */
export async function runCheck({db, block, sample}: CheckOptions): Promise<number> {
  const stopping = watchSignals();
  const running = startCheck({directory: db, extent: "records", block, sample}, createPrinter());
  stopping.addEventListener("abort", () => running.stop());
  const outcome = await running.outcome.catch((error: unknown) => {
    throw openFailed(db, error);
  });
  const {reason: received} = stopping;
  process.stdout.write(`${describe(outcome, received)}\n`);
  if (outcome.findings > 0) return ExitCode.FAILED;
  return received === undefined || outcome.stoppedAt === undefined ? ExitCode.OK : exitCodeOf(received);
}

function createPrinter(): (event: CheckEvent) => void {
  let nextMs = performance.now() + PROGRESS_EVERY_MS;
  let totalBytes = 0;
  return event => {
    if (event.kind === "finding") process.stdout.write(`${event.where}: ${event.what}\n`);
    else if (event.kind === "begin") totalBytes = event.bytes;
    else if (event.kind === "sampling")
      process.stderr.write(`check: no --block was given; sampling the newest block, ${event.block}\n`);
    else if (performance.now() >= nextMs) {
      nextMs = performance.now() + PROGRESS_EVERY_MS;
      const {at, bytes, pages} = event;
      const done =
        pages > 0 ? count(pages, "page") : `${(bytes / MB).toFixed(0)} of ${(totalBytes / MB).toFixed(0)} MB`;
      process.stderr.write(`check: ${done}, ${at}\n`);
    }
  };
}

function describe(outcome: CheckOutcome, received: StopSignal | undefined): string {
  const {bytes, blocks, pages, leaves, findings, filesDamaged, stoppedAt} = outcome;
  const verdict = findings === 0 ? "nothing wrong" : `${count(findings, "finding")}`;
  const counts = `${count(blocks, "block")}, ${count(pages, "page")}, ${leaves} ${leaves === 1 ? "leaf" : "leaves"}, ${(bytes / MB).toFixed(1)} MB of tables`;
  if (stoppedAt !== undefined)
    return `stopped by ${received} at ${stoppedAt}, before the end; checked ${counts}: ${verdict}`;
  if (filesDamaged)
    return `checked ${counts}: ${verdict}; files are damaged or cannot be read, so their records were not checked`;
  return `checked ${counts}: ${verdict}`;
}
