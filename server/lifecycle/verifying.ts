/**
 * `serve --check-store`: compares the checksums of LevelDB's tables once after the start, while requests are answered.
 *
 * Its thread has the lowest priority and a limited rate, because proofs need the disk more. A finding makes /readyz
 * fail: proofs are still right, but LevelDB may end the process when it reads or compacts the damage.
 */
import type {Logger} from "pino";
import type {CheckEvent, CheckOutcome} from "../../workers/messages/checkJob.ts";
import type {Running} from "../../workers/threads/running.ts";
import {startCheck} from "../../workers/threads/runningCheck.ts";
import type {Metrics} from "../observe/metrics.ts";
import type {TroubleLog} from "../observe/troubleLog.ts";

/** 10 GB take 160 s and a tenth of a core. */
const BYTES_PER_SECOND = 64 << 20;
const LINE_EVERY_MS = 10_000;

export function startVerifying(
  directory: string,
  metrics: Metrics,
  trouble: TroubleLog,
  log: Logger,
): Running<CheckOutcome> {
  let all = 0;
  let nextMs = performance.now() + LINE_EVERY_MS;
  const onEvent = (event: CheckEvent): void => {
    if (event.kind === "finding") trouble.reportTable(event.where, event.what);
    else if (event.kind === "begin") {
      all = event.bytes;
      metrics.verified = {done: 0, all};
      log.info({tables: event.tables, bytes: all}, "verifying the tables");
    } else if (event.kind === "progress") {
      metrics.verified = {done: event.bytes, all};
      if (performance.now() < nextMs) return;
      nextMs = performance.now() + LINE_EVERY_MS;
      log.info({bytes: event.bytes, of: all, at: event.at}, "verifying the tables");
    }
  };
  const running = startCheck({directory, extent: "tables", bytesPerSecond: BYTES_PER_SECOND}, onEvent);
  running.outcome.then(
    ({bytes, findings, stoppedAt}) => {
      if (stoppedAt === undefined) log.info({bytes, findings}, "the tables are verified");
      else log.info({bytes, of: all, findings, at: stoppedAt}, "verifying the tables was stopped");
    },
    (error: unknown) => {
      metrics.hasVerifyFailed = true;
      log.error({err: error}, "the tables cannot be verified");
    },
  );
  return running;
}
