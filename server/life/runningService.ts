/**
 * The life of a running service: store, finality, HTTP front, and what imports and verifies meanwhile. It says what starts
 * after what, and what ends first.
 *
 * If the import of --diffs or --l2 fails, the failure is logged and shown (following.ts). The service continues with the
 * blocks it has, since their proofs stay right.
 */
import {accessSync, constants} from "node:fs";
import type {Logger} from "pino";
import {DEFAULT_SUITE_NAME} from "../../storage/hash/suiteNames.ts";
import type {Engine, EngineOptions} from "../../workers/engine.ts";
import type {ImportEvent} from "../../workers/messages/importJob.ts";
import type {FeedSource} from "../../workers/messages/importSource.ts";
import {createFront, type Front} from "../front.ts";
import type {Estimates} from "../methods/estimates.ts";
import {PublishStatus} from "../observe/publishStatus.ts";
import {Readiness} from "../observe/readiness.ts";
import {SourceStatus} from "../observe/sourceStatus.ts";
import {TroubleLog} from "../observe/troubleLog.ts";
import {type Announcement, describeService} from "./announcement.ts";
import {answerFields} from "./control/blockOrder.ts";
import type {OrderListener} from "./control/controlServer.ts";
import {importDemo} from "./demo.ts";
import {limitConnections} from "./descriptors.ts";
import {Ends} from "./ends.ts";
import type {RunningFinality} from "./finality/finality.ts";
import {
  createFollowedFeed,
  createFollowedFile,
  createFollowedNode,
  type FollowedSource,
} from "./following/followedSource.ts";
import {Following} from "./following/following.ts";
import {logPruning} from "./pruneLog.ts";
import type {EstimateOptions, FinalityOptions, ServiceOptions} from "./serviceOptions.ts";
import {OwnedStore} from "./storeOpening.ts";
import {startVerifying} from "./verifying.ts";
import {WorkError} from "./workError.ts";

export interface RunningService {
  readonly url: string;
  readonly announcement: Announcement;
  readonly engine: Engine;
  /** Resolves if what the operator gave can never work, such as a bad genesis file, or if the store is lost. Stop the service then. */
  readonly failed: Promise<WorkError>;
  /**
   * Answers the requests that have begun, and ends everything.
   *
   * @throws WorkError that names what has not ended in time
   */
  stop(timeoutMs?: number): Promise<void>;
}

interface Listeners {
  readonly log: Logger;
  /** Resolves when the service is to stop, also while it starts: then the demo's import ends early. */
  readonly stopping?: Promise<unknown>;
  readonly onDemo?: (event: ImportEvent) => void;
}

/** A process must end within 10 s of its signal. */
const STOP_MS = 9_500;
/** Part of a stop's time after which connections that are still busy are closed. */
const DRAIN_FRACTION = 0.85;
/** Time for the socket to send the rest of the last answer. */
const FLUSH_MS = 200;

/** Starts a service. It takes requests when this returns. @throws WorkError that says what it lacks, for the operator */
export async function startService(
  options: ServiceOptions,
  {log, stopping, onDemo = () => {}}: Listeners,
): Promise<RunningService> {
  const {diffs, l2, demo = false, chainId} = options;
  if (diffs !== "-") requireReadable("--diffs", diffs);
  requireReadable("--genesis", l2?.genesisPath);
  const trouble = new TroubleLog(log);
  const onOrder: OrderListener = ({kind, to}, answer) =>
    log.info({to, ...answerFields(answer)}, `proofd ${kind}`);
  if (options.feed !== undefined) await takeFirstSnapshot(options, options.feed, log, stopping);
  const ending = new Ending();
  const store = await OwnedStore.open(describePool(options, trouble, ending, log), onOrder);
  const ends = new Ends();
  let isStarted = false;
  ends.add("the store", onWait => store.close(!isStarted, onWait));
  try {
    if (demo) await importDemo(store.engine, chainId, stopping, onDemo);
    const finality = await createFinality(options.finality, store.engine, log);
    if (finality !== undefined) ends.add("finality", () => finality.stop());
    const service = await serve(options, store.engine, finality, trouble, ending, log, ends);
    isStarted = true;
    return service;
  } catch (error) {
    await ends
      .run(STOP_MS)
      .catch((error: Error) => log.error({err: error}, "the failed start leaves parts open"));
    throw error;
  }
}

/** @throws WorkError; Error if the service is to stop meanwhile */
async function takeFirstSnapshot(
  {db, chainId, suite = DEFAULT_SUITE_NAME}: ServiceOptions,
  feed: FeedSource,
  log: Logger,
  stopping: Promise<unknown> | undefined,
): Promise<void> {
  // Loads NATS, which other services do not need.
  const {takeSnapshot} = await import("./following/firstSnapshot.ts");
  const ending = new AbortController();
  void stopping?.then(() => ending.abort(new WorkError("stopped while the snapshot came")));
  await takeSnapshot({directory: db, feed, chainId, suite}, log, ending.signal);
}

/** Why a service that runs has to end. */
class Ending {
  fail: (error: WorkError) => void = () => {};
  readonly failed = new Promise<WorkError>(resolve => {
    this.fail = resolve;
  });
}

function describePool(
  options: ServiceOptions,
  trouble: TroubleLog,
  ending: Ending,
  log: Logger,
): EngineOptions {
  const {db, workers, cacheBytes, demo = false, diffs, l2, feed, chainId, suite, estimate, history} = options;
  return {
    directory: db,
    workers,
    cacheBytes,
    createIfMissing: demo || diffs !== undefined || l2 !== undefined || feed !== undefined,
    chainId,
    suite,
    ...(estimate.isEnabled ? {estimates: estimate} : {}),
    pruning: {history, rests: true, onEvent: logPruning(log)},
    onWorkerExit: (error: Error) => trouble.reportWorkerExit(error),
    onWriting: stopped => trouble.reportWriting(stopped),
    onLost: error => ending.fail(new WorkError(`the store cannot be opened again: ${error.message}`)),
  };
}

async function serve(
  options: ServiceOptions,
  engine: Engine,
  finality: RunningFinality | undefined,
  trouble: TroubleLog,
  ending: Ending,
  log: Logger,
  ends: Ends,
): Promise<RunningService> {
  const {host, port, limits, cors, namespace, finalized, allowUnverified = false, chainId} = options;
  const estimates = await chooseEstimates(options.estimate, engine, log);
  if (estimates.kind === "gateway") ends.add("the gateway", () => estimates.gateway.close());
  const followed = chooseFollowed(options);
  const source = followed && new SourceStatus(followed.flag);
  const publishing = options.publish && new PublishStatus();
  const {maxLagSeconds, maxFinalityLagSeconds} = options;
  const readiness = new Readiness({
    chain: engine.chain,
    damage: trouble,
    threads: () => engine.readThreads(),
    source,
    finality: finality?.status,
    publishing,
    maxLagSeconds,
    maxFinalityLagSeconds,
  });
  const named = namespace === undefined ? {} : {namespace};
  const {workers, estimate, allowedHosts = [], trustForwarded = [], http} = options;
  const {isBalanced = false} = options;
  const maxConnections = limitConnections(workers + (estimate.isEnabled ? estimate.workers : 0));
  const httpOptions = {
    ...{host, port, limits, cors, allowedHosts},
    ...{trustForwarded, maxConnections, isBalanced},
    ...(http === undefined ? {} : {http}),
    ...named,
  };
  const shown = {source, readiness, finality: finality?.status, publishing};
  const front = createFront(httpOptions, engine, estimates, trouble, log, shown);
  const boundPort = await front.http.listen().catch((error: Error) => {
    throw new WorkError(error.message);
  });
  const announcement = describeService(host, boundPort, front.http.library, engine, estimates.kind);
  const onFinal = (reason: string): void =>
    ending.fail(new WorkError(`the import can never succeed: ${reason}`));
  const following =
    followed === undefined || source === undefined
      ? undefined
      : new Following(engine, followed, {finalized, allowUnverified, chainId}, source, onFinal, log);
  if (options.publish !== undefined && publishing !== undefined) {
    // Loads NATS, which other services do not need.
    const {Publishing} = await import("./publishing/publishing.ts");
    const running = new Publishing(options.db, options.publish, engine, publishing, log);
    ends.add("publishing", () => running.stop());
  }
  const verifying = options.verify ? startVerifying(options.db, front.metrics, trouble, log) : undefined;
  if (verifying !== undefined)
    ends.add("verifying", async () => {
      await verifying.outcome.catch(() => {}); // logged where it was started
    });
  let drainMs = 0;
  ends.add("requests", () => endRequests(front, drainMs, log));
  return {
    url: announcement.url,
    announcement,
    engine,
    failed: ending.failed,
    stop: (timeoutMs = STOP_MS) => {
      following?.stop();
      verifying?.stop();
      drainMs = timeoutMs * DRAIN_FRACTION;
      return ends.run(timeoutMs);
    },
  };
}

/** @param drainMs - connections that are still busy after this time are closed */
async function endRequests({http, dispatcher}: Front, drainMs: number, log: Logger): Promise<void> {
  const cut = setTimeout(() => {
    log.warn("requests are still unfinished; closing their connections");
    http.close();
  }, drainMs);
  await http.drain();
  clearTimeout(cut);
  await new Promise(resolve => setTimeout(resolve, FLUSH_MS));
  http.close();
  dispatcher.close();
}

/** @returns undefined if only imports and orders tell what is finalized */
async function createFinality(
  finality: FinalityOptions | undefined,
  engine: Engine,
  log: Logger,
): Promise<RunningFinality | undefined> {
  if (finality === undefined) return undefined;
  // Here and for the gateway: what asks nodes brings 100 modules of undici, a tenth of a start's time.
  const {startFinality} = await import("./finality/finality.ts");
  return startFinality(finality, engine, log);
}

async function chooseEstimates(
  {isEnabled, gateway, settings, workers}: EstimateOptions,
  engine: Engine,
  log: Logger,
): Promise<Estimates> {
  if (isEnabled) {
    const {gasCap, timeMs} = settings;
    return {kind: "here", gasCap, timeMs, workers, estimate: job => engine.estimate(job)};
  }
  if (gateway === undefined) return {kind: "none"};
  const {Gateway} = await import("../gateway/gateway.ts");
  return {kind: "gateway", gateway: new Gateway(gateway, log)};
}

function chooseFollowed({diffs, l2, feed}: ServiceOptions): FollowedSource | undefined {
  if (feed !== undefined) return createFollowedFeed(feed);
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
