/** `proofd serve`: runs a service until a signal. */
import {once} from "node:events";
import {destination, type Logger, pino, stdTimeFunctions} from "pino";
import {type RunningService, startService} from "../../server/lifecycle/runningService.ts";
import type {ServiceOptions} from "../../server/lifecycle/serviceOptions.ts";
import {ExitCode, type StopSignal, watchSignals} from "../exitCode.ts";
import type {LOG_FORMATS} from "../flags/serveFlags.ts";
import {createProgress} from "./progress.ts";

const STDERR = 2;
const INFO = 30;

interface LogChoice {
  readonly logLevel: string;
  readonly logFormat: (typeof LOG_FORMATS)[number];
}

/** Serves until a signal arrives. @returns the exit code. @throws WorkError if the service cannot start or end */
export async function runServe(options: ServiceOptions, {logLevel, logFormat}: LogChoice): Promise<number> {
  const stopping = watchSignals();
  const signal = once(stopping, "abort").then(() => stopping.reason as StopSignal);
  const byName = logFormat === "names";
  const names = {timestamp: stdTimeFunctions.isoTime, formatters: {level: (level: string) => ({level})}};
  const log = pino(
    {name: "proofd", level: logLevel, ...(byName ? names : {})},
    destination({fd: STDERR, sync: true}),
  );
  // The state is unknown after an uncaught error, so the store is left as after kill -9, which loses nothing.
  process.on("uncaughtException", (err, origin) => {
    log.fatal({err, origin}, "an error was not caught: the process ends");
    process.exit(ExitCode.FAILED);
  });
  const service = await startService(options, {log, stopping: signal, onDemo: createProgress()});
  const {url, earliest, finalized} = service.announcement;
  const now = new Date();
  const stamp = byName ? {level: "info", time: now.toISOString()} : {level: INFO, time: now.getTime()};
  process.stdout.write(`${JSON.stringify({msg: "listening", ...service.announcement, ...stamp})}\n`);
  if (options.demo)
    process.stderr.write(
      `proofd serves ${url} (demo chain, blocks ${earliest} to ${finalized}); Ctrl-C stops it\n`,
    );
  return endAfter(signal, service, log);
}

/** @returns the exit code. @throws WorkError if the service can never do its work, or parts of it did not stop */
export async function endAfter(
  signal: Promise<StopSignal>,
  service: Pick<RunningService, "stop" | "failed">,
  log: Logger,
): Promise<number> {
  const end = await Promise.race([signal, service.failed]);
  log.info(typeof end === "string" ? {signal: end} : {reason: end.message}, "stopping");
  await service.stop();
  if (typeof end !== "string") throw end;
  return ExitCode.OK;
}
