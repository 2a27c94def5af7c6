/**
 * `proofd serve`: store, pool, dispatcher and HTTP front, from the first line to the last.
 *
 * An import beside the service (--diffs) that fails is logged and shown (following.ts), and the service goes on with what
 * is held: proofs of those blocks stay right.
 */
import {accessSync, constants} from "node:fs";
import {destination, type Logger, pino} from "pino";
import type {BlockOrder, ControlAnswer} from "../../server/control/blockOrder.ts";
import {createFront} from "../../server/front.ts";
import {Gateway} from "../../server/gateway/gateway.ts";
import type {Limits} from "../../server/limits.ts";
import type {Estimates} from "../../server/methods/estimates.ts";
import {Readiness} from "../../server/observe/readiness.ts";
import {SourceStatus} from "../../server/observe/sourceStatus.ts";
import {TroubleLog} from "../../server/observe/troubleLog.ts";
import {VERSION} from "../../server/version.ts";
import type {ProofPool} from "../../workers/pool/pool.ts";
import {ExitCode, StopWatch} from "../exitCode.ts";
import type {EstimateOptions} from "../flags/estimateFlags.ts";
import {WorkError} from "../workError.ts";
import {importDemo} from "./demo.ts";
import {Following} from "./following.ts";
import {useStore} from "./storeOpening.ts";
import {startVerifying} from "./verifying.ts";

export interface ServeOptions {
  readonly db: string;
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly cacheBytes: number;
  /** A file of block differences, or "-". */
  readonly diffs: string | undefined;
  /** Of the blocks of `diffs`, besides what the lines say. */
  readonly finalized: number | "last" | undefined;
  /** Seconds that the newest block may be old while the service is ready; only with `diffs`. */
  readonly maxLagSeconds: number | undefined;
  readonly demo: boolean;
  /** Compare the checksums of the tables after the start. */
  readonly verify: boolean;
  readonly chainId: bigint | undefined;
  /** Origins of web pages that may ask; none: no page may. */
  readonly cors: readonly string[];
  readonly logLevel: string;
  readonly logRequests: boolean;
  readonly limits: Limits;
  readonly estimate: EstimateOptions;
}

/** The promise is 10 s from the signal to the exit. Connections that take longer are cut: */
const DRAIN_MS = 8_000;
/** and should the threads or the store not end by then, the process ends without them. */
const EXIT_MS = 9_500;
/** After the last answer was handed over: what the socket still holds of it leaves. */
const FLUSH_MS = 200;
const STDERR = 2;

/** @returns the exit code, after a signal and an orderly end */
export async function runServe(options: ServeOptions): Promise<number> {
  const stop = new StopWatch();
  const log = pino({name: "proofd", level: options.logLevel}, destination({fd: STDERR, sync: true}));
  const trouble = new TroubleLog(log);
  requireReadable(options.diffs);
  const poolOptions = {
    directory: options.db,
    workers: options.workers,
    cacheBytes: options.cacheBytes,
    createIfMissing: options.demo || options.diffs !== undefined,
    ...(options.chainId === undefined ? {} : {chainId: options.chainId}),
    ...(options.estimate.isEnabled ? {estimates: options.estimate} : {}),
    onWorkerExit: (error: Error) => trouble.reportWorkerExit(error),
  };
  const onOrder = ({kind, to}: BlockOrder, answer: ControlAnswer) =>
    log.info({to, ...answer}, `proofd ${kind}`);
  return useStore(poolOptions, onOrder, async pool => {
    if (options.demo && stop.received === null) await importDemo(pool, options.chainId);
    if (stop.received === null) await serve(options, pool, trouble, log, stop);
    return ExitCode.OK;
  });
}

async function serve(
  options: ServeOptions,
  pool: ProofPool,
  trouble: TroubleLog,
  log: Logger,
  stop: StopWatch,
): Promise<void> {
  const {
    host,
    port,
    limits,
    cors,
    logRequests: logsRequests,
    diffs,
    finalized,
    chainId,
    maxLagSeconds,
  } = options;
  const estimates = chooseEstimates(options.estimate, pool, log);
  const httpOptions = {host, port, limits, logsRequests, cors};
  const source = diffs === undefined ? undefined : new SourceStatus();
  const readiness = new Readiness(pool.chain, trouble, source, maxLagSeconds);
  const {http, dispatcher, metrics} = createFront(httpOptions, pool, estimates, trouble, log, {
    source,
    readiness,
  });
  const boundPort = await http.listen().catch((error: Error) => {
    throw new WorkError(error.message);
  });
  announce(options, pool, estimates, boundPort);
  const rules = {
    ...(finalized === undefined ? {} : {finalized}),
    ...(chainId === undefined ? {} : {chainId}),
  };
  const following =
    diffs === undefined || source === undefined ? null : new Following(pool, diffs, rules, source, log);
  const verifying = options.verify ? startVerifying(options.db, metrics, trouble, log) : null;
  log.info({signal: await stop.signal}, "stopping");
  const cut = setTimeout(() => {
    log.warn("requests are still unfinished; closing their connections");
    http.close();
  }, DRAIN_MS);
  // Left running while the pool closes.
  setTimeout(() => process.exit(ExitCode.OK), EXIT_MS);
  following?.stop();
  verifying?.stop();
  await http.drain();
  clearTimeout(cut);
  await new Promise(resolve => setTimeout(resolve, FLUSH_MS));
  http.close();
  dispatcher.close();
  await verifying?.outcome.catch(() => {}); // logged where it was started
  if (estimates.kind === "gateway") await estimates.gateway.close();
}

function chooseEstimates(
  {isEnabled, gateway, settings, workers}: EstimateOptions,
  pool: ProofPool,
  log: Logger,
): Estimates {
  if (isEnabled) {
    const {gasCap, timeMs} = settings;
    return {kind: "here", gasCap, timeMs, workers, estimate: job => pool.estimate(job)};
  }
  return gateway === undefined ? {kind: "none"} : {kind: "gateway", gateway: new Gateway(gateway, log)};
}

/** @throws WorkError for a file that is not there, before anything is made for it */
function requireReadable(diffs: string | undefined): void {
  if (diffs === undefined || diffs === "-") return;
  try {
    accessSync(diffs, constants.R_OK);
  } catch (error) {
    throw new WorkError(`--diffs: cannot read ${diffs}: ${(error as Error).message}`);
  }
}

/** One JSON line on standard output for programs; in the demo also one for the human who started it. */
function announce(options: ServeOptions, pool: ProofPool, estimates: Estimates, port: number): void {
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  const url = `http://${host}:${port}`;
  const {earliest, finalized, latest} = pool.chain.head();
  const {workers} = pool;
  const {suite} = pool.chain;
  const line = {
    msg: "listening",
    url,
    version: VERSION,
    pid: process.pid,
    suite,
    workers,
    estimates: estimates.kind,
    earliest,
    finalized,
    latest,
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  if (!options.demo) return;
  process.stderr.write(
    `proofd serves ${url} (demo chain, blocks ${earliest} to ${finalized}); Ctrl-C stops it\n`,
  );
}
