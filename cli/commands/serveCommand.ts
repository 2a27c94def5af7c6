/**
 * `proofd serve`: starts store, pool, dispatcher and HTTP front, and ends them after a signal.
 *
 * If the import of --diffs or --l2 fails, the failure is logged and shown (following.ts). The service goes on with the blocks
 * it has, since their proofs stay right.
 */
import {accessSync, constants} from "node:fs";
import {destination, type Logger, pino} from "pino";
import {answerFields, type BlockOrder, type ControlAnswer} from "../../server/control/blockOrder.ts";
import type {OrderListener} from "../../server/control/controlServer.ts";
import {createFront} from "../../server/front.ts";
import type {Limits} from "../../server/limits.ts";
import type {Estimates} from "../../server/methods/estimates.ts";
import {Readiness} from "../../server/observe/readiness.ts";
import {SourceStatus} from "../../server/observe/sourceStatus.ts";
import {TroubleLog} from "../../server/observe/troubleLog.ts";
import type {History} from "../../storage/prune/retention.ts";
import type {ProofPool} from "../../workers/engine.ts";
import type {NodeSource} from "../../workers/job/importSource.ts";
import {limitConnections} from "../descriptors.ts";
import {ExitCode, StopWatch} from "../exitCode.ts";
import type {EstimateOptions} from "../flags/estimateFlags.ts";
import type {FinalityOptions} from "../flags/finalityFlags.ts";
import {WorkError} from "../workError.ts";
import {announce} from "./announcement.ts";
import {importDemo} from "./demo.ts";
import type {RunningFinality} from "./finality.ts";
import {createFollowedFile} from "./followedFile.ts";
import {createFollowedNode} from "./followedNode.ts";
import type {FollowedSource} from "./followedSource.ts";
import {Following} from "./following.ts";
import {logPruning} from "./pruneLog.ts";
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
  /** Nodes that are followed; not with `diffs`. */
  readonly l2: NodeSource | undefined;
  /** Blocks of the source up to this one are finalized, as are those that lines of `diffs` mark. */
  readonly finalized: number | "last" | undefined;
  /** Highest age of the newest block, in seconds, at which the service counts as ready; only with `diffs` or `l2`. */
  readonly maxLagSeconds: number | undefined;
  /** What tells which blocks are finalized, besides imports and orders. */
  readonly finality: FinalityOptions | undefined;
  readonly demo: boolean;
  /** Compare the checksums of the tables after the start. */
  readonly verify: boolean;
  readonly chainId: bigint | undefined;
  readonly suite: string | undefined;
  /** Which finalized blocks are kept. */
  readonly history: History;
  /** Origins whose web pages may send requests. Empty: no page may. */
  readonly cors: readonly string[];
  /** Names by which requests may call the server, besides localhost. */
  readonly allowedHosts: readonly string[];
  readonly namespace: string | undefined;
  readonly logLevel: string;
  readonly logRequests: boolean;
  readonly limits: Limits;
  readonly estimate: EstimateOptions;
}

/** The process must end within 10 s of the signal. Connections that are still busy after this time are closed. */
const DRAIN_MS = 8_000;
/** If the threads or the store have not ended by then, the process exits anyway. */
const EXIT_MS = 9_500;
/** Time for the socket to send the rest of the last answer. */
const FLUSH_MS = 200;
const STDERR = 2;

/** Serves until a signal arrives. @returns the exit code */
export async function runServe(options: ServeOptions): Promise<number> {
  const stop = new StopWatch();
  const log = pino({name: "proofd", level: options.logLevel}, destination({fd: STDERR, sync: true}));
  const trouble = new TroubleLog(log);
  if (options.diffs !== "-") requireReadable("--diffs", options.diffs);
  requireReadable("--genesis", options.l2?.genesisPath);
  const poolOptions = {
    directory: options.db,
    workers: options.workers,
    cacheBytes: options.cacheBytes,
    createIfMissing: options.demo || options.diffs !== undefined || options.l2 !== undefined,
    ...(options.chainId === undefined ? {} : {chainId: options.chainId}),
    ...(options.suite === undefined ? {} : {suite: options.suite}),
    ...(options.estimate.isEnabled ? {estimates: options.estimate} : {}),
    pruning: {history: options.history, rests: true, onEvent: logPruning(log)},
    onWorkerExit: (error: Error) => trouble.reportWorkerExit(error),
  };
  const onOrder = ({kind, to}: BlockOrder, answer: ControlAnswer) =>
    log.info({to, ...answerFields(answer)}, `proofd ${kind}`);
  return useStore(poolOptions, onOrder, async pool => {
    if (options.demo && stop.received === undefined) await importDemo(pool, options.chainId);
    if (stop.received !== undefined) return ExitCode.OK;
    const finality = await createFinality(options.finality, pool, onOrder, log);
    try {
      await serve(options, pool, finality, trouble, log, stop);
    } finally {
      await finality?.stop();
    }
    return ExitCode.OK;
  });
}

async function serve(
  options: ServeOptions,
  pool: ProofPool,
  finality: RunningFinality | undefined,
  trouble: TroubleLog,
  log: Logger,
  stop: StopWatch,
): Promise<void> {
  const {
    host,
    port,
    limits,
    cors,
    allowedHosts,
    namespace,
    logRequests: logsRequests,
    finalized,
    chainId,
    maxLagSeconds,
  } = options;
  const estimates = await chooseEstimates(options.estimate, pool, log);
  const maxConnections = limitConnections(
    options.workers + (options.estimate.isEnabled ? options.estimate.workers : 0),
  );
  const httpOptions = {host, port, limits, logsRequests, cors, allowedHosts, maxConnections};
  const named = namespace === undefined ? {} : {namespace};
  const followed = chooseFollowed(options);
  const source =
    followed === undefined ? undefined : new SourceStatus(options.l2 === undefined ? "diffs" : "l2");
  const readiness = new Readiness(pool.chain, trouble, source, maxLagSeconds);
  const {http, dispatcher, waiting, metrics} = createFront(
    {...httpOptions, ...named},
    pool,
    estimates,
    trouble,
    log,
    {
      source,
      readiness,
      finality: finality?.status,
    },
  );
  const boundPort = await http.listen().catch((error: Error) => {
    throw new WorkError(error.message);
  });
  announce(options, pool, estimates.kind, boundPort, finality?.adminPort);
  const rules = {
    ...(finalized === undefined ? {} : {finalized}),
    ...(chainId === undefined ? {} : {chainId}),
  };
  const following =
    followed === undefined || source === undefined
      ? undefined
      : new Following(pool, followed, rules, source, log);
  const verifying = options.verify ? startVerifying(options.db, metrics, trouble, log) : undefined;
  log.info({signal: await stop.signal}, "stopping");
  const cut = setTimeout(() => {
    log.warn("requests are still unfinished; closing their connections");
    http.close();
  }, DRAIN_MS);
  // This timer still runs while the pool closes.
  setTimeout(() => process.exit(ExitCode.OK), EXIT_MS);
  following?.stop();
  verifying?.stop();
  const drained = http.drain();
  waiting.close();
  await drained;
  clearTimeout(cut);
  await new Promise(resolve => setTimeout(resolve, FLUSH_MS));
  http.close();
  dispatcher.close();
  await verifying?.outcome.catch(() => {}); // logged where it was started
  if (estimates.kind === "gateway") await estimates.gateway.close();
}

/** @returns undefined if only imports and orders tell what is finalized */
async function createFinality(
  finality: FinalityOptions | undefined,
  pool: ProofPool,
  onOrder: OrderListener,
  log: Logger,
): Promise<RunningFinality | undefined> {
  if (finality === undefined) return undefined;
  // Here and for the gateway: what asks nodes brings 100 modules of undici, a tenth of a start's time.
  const {startFinality} = await import("./finality.ts");
  return startFinality(finality, pool, onOrder, log);
}

async function chooseEstimates(
  {isEnabled, gateway, settings, workers}: EstimateOptions,
  pool: ProofPool,
  log: Logger,
): Promise<Estimates> {
  if (isEnabled) {
    const {gasCap, timeMs} = settings;
    return {kind: "here", gasCap, timeMs, workers, estimate: job => pool.estimate(job)};
  }
  if (gateway === undefined) return {kind: "none"};
  const {Gateway} = await import("../../server/gateway/gateway.ts");
  return {kind: "gateway", gateway: new Gateway(gateway, log)};
}

function chooseFollowed({diffs, l2}: ServeOptions): FollowedSource | undefined {
  if (l2 !== undefined) return createFollowedNode(l2);
  return diffs === undefined ? undefined : createFollowedFile(diffs);
}

/** @throws WorkError for a file that cannot be read, before a store is made for it */
function requireReadable(flag: string, path: string | undefined): void {
  if (path === undefined) return;
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    throw new WorkError(`${flag}: cannot read ${path}: ${(error as Error).message}`);
  }
}
