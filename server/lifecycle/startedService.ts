/**
 * One start of a service. Its parts start in the order of the list, and stop in reverse (parts.ts). If an import fails,
 * the service continues with the blocks that it has, since their proofs stay right.
 */
import {fileURLToPath} from "node:url";
import type {Logger} from "pino";
import {DEFAULT_SUITE_NAME} from "../../storage/hash/suiteNames.ts";
import type {PruneEvent} from "../../workers/chain/pruner.ts";
import type {Engine} from "../../workers/engine.ts";
import type {ImportEvent} from "../../workers/messages/importJob.ts";
import {createFront, type Front} from "../front.ts";
import type {Gateway} from "../gateway/gateway.ts";
import {UwsRefused} from "../listener/uwsLibrary.ts";
import type {Estimates} from "../methods/method.ts";
import {PublishStatus} from "../observe/publishStatus.ts";
import {SourceStatus} from "../observe/sourceStatus.ts";
import {TroubleLog} from "../observe/troubleLog.ts";
import type {SlotFetcher} from "../slices/slotFetcher.ts";
import {VERSION} from "../version.ts";
import {answerFields, headFields} from "./control/blockCommand.ts";
import type {RunningFinality} from "./finality/finality.ts";
import type {SnapshotMiss, SnapshotTarget} from "./following/firstSnapshot.ts";
import {Following} from "./following/following.ts";
import type {StoreReplacement} from "./following/storeReplacement.ts";
import {checkPaths} from "./optionPaths.ts";
import {type Part, Parts, type Stop} from "./parts.ts";
import {limitConnections} from "./processLimits.ts";
import type {FollowedSource, ServiceOptions} from "./serviceOptions.ts";
import {OwnedStore} from "./storeOpening.ts";
import {startVerifying} from "./verifying.ts";
import {SettingsError, StoppedEarly, WorkError} from "./workError.ts";

export interface Surroundings {
  readonly log: Logger;
  /** Resolves when the service is to stop, even while it starts. */
  readonly stopping?: Promise<unknown>;
  readonly onDemo?: (event: ImportEvent) => void;
  readonly moreParts?: readonly Part[];
}

const DEMO_FILES = ["genesis.json", "chain.rlp"].map(name => import.meta.resolve(`#package/demo/${name}`));
/** A process must end within 10 s of its signal. */
export const STOP_MS = 9_500;
/** A thread that gives no sign of life for so long hangs, even if requests time out earlier: disks may be slow. */
const LEAST_HANG_MS = 10_000;
/** Of the time for unfinished requests; then their calls get errors, and busy connections are closed. */
const DRAIN_FRACTION = 0.92;
/** Time for sockets to send the rest of the last answers. */
const FLUSH_MS = 200;

export class StartedService {
  private readonly started: Parts;
  /** In the order of their start. */
  private readonly parts: readonly Part[] = [
    {name: "the first snapshot", start: () => this.takeFirstSnapshot()},
    {name: "the store", share: 1, start: () => this.openStore()},
    {name: "finality", start: () => this.startFinality()},
    {name: "the gateway", start: () => this.openGateway()},
    {name: "fetches of slots", start: () => this.openSlots()},
    {name: "requests", share: 0.9, start: () => this.listen()},
    {name: "the demo", start: () => this.importDemo()},
    {name: "the import", start: () => this.startImport()},
    {name: "publishing", start: () => this.publish()},
    {name: "verifying", start: () => this.verify()},
  ];
  /** Resolves once a snapshot is to replace the store at the next start. */
  readonly replaced: Promise<void>;
  private isStarted = false;
  engine!: Engine;
  private replace!: () => void;
  private refused: SnapshotMiss | undefined;
  private readonly trouble: TroubleLog;
  private readonly source: FollowedSource | undefined;
  private readonly sourceStatus: SourceStatus | undefined;
  private readonly publishStatus: PublishStatus | undefined;
  private finality: RunningFinality | undefined;
  private gateway: Gateway | undefined;
  private slots: SlotFetcher | undefined;
  private front!: Front;
  private boundPort = 0;
  private metricsPort: number | undefined;

  private constructor(
    private readonly options: ServiceOptions,
    private readonly surroundings: Surroundings,
    private readonly fail: (error: WorkError) => void,
    private readonly log = surroundings.log,
  ) {
    const {feed, l2, diffs, publish} = options;
    this.started = new Parts(log);
    this.trouble = new TroubleLog(log);
    this.source = feed ?? l2 ?? (diffs === undefined ? undefined : {kind: "diffs", path: diffs});
    this.sourceStatus =
      this.source && new SourceStatus(this.source.kind === "node" ? "l2" : this.source.kind);
    this.publishStatus = publish && new PublishStatus();
    this.replaced = new Promise(resolve => {
      this.replace = resolve;
    });
  }

  /** @param onFailed - called if the settings can never work or the store is lost. @throws WorkError, StoppedEarly */
  static async start(
    options: ServiceOptions,
    surroundings: Surroundings,
    onFailed: (error: WorkError) => void,
  ): Promise<StartedService> {
    checkPaths(options);
    const service = new StartedService(options, surroundings, onFailed);
    const {started, log} = service;
    try {
      for (const part of [...service.parts, ...(surroundings.moreParts ?? [])]) await started.start(part);
    } catch (error) {
      await service
        .stop(STOP_MS)
        .catch((error: Error) => log.error({err: error}, "the failed start leaves parts open"));
      throw error;
    }
    service.isStarted = true;
    return service;
  }

  stop(timeoutMs: number): Promise<void> {
    return this.started.stop(timeoutMs);
  }

  announce() {
    const {engine, boundPort, metricsPort, front} = this;
    const {host} = this.options;
    const name = host.includes(":") ? `[${host}]` : host;
    return {
      url: `http://${name}:${boundPort}`,
      ...(metricsPort !== undefined && {metrics: `http://${name}:${metricsPort}/metrics`}),
      version: VERSION,
      pid: process.pid,
      http: front.http.library,
      suite: engine.chain.suite,
      workers: engine.workers,
      estimates: this.estimates.kind === "none" && this.gateway ? "gateway" : this.estimates.kind,
      ...headFields(engine.chain.head()),
    };
  }

  private async takeFirstSnapshot(): Promise<undefined> {
    const target = this.snapshotTarget();
    if (target === undefined) return;
    // Imported here, because it loads NATS, which other services do not need.
    const {takeSnapshot} = await import("./following/firstSnapshot.ts");
    const ending = new AbortController();
    void this.surroundings.stopping?.then(() =>
      ending.abort(new StoppedEarly("stopped while the snapshot came")),
    );
    this.refused = await takeSnapshot(target, this.log, ending.signal);
  }

  private snapshotTarget(): SnapshotTarget | undefined {
    const {db, chainId, suite = DEFAULT_SUITE_NAME, feed} = this.options;
    return feed && {directory: db, feed, chainId, suite};
  }

  private async openStore(): Promise<Stop> {
    const {db, workers, cacheBytes, demo = false, chainId, suite, estimate, history, limits} = this.options;
    const {log, trouble} = this;
    const store = await OwnedStore.open(
      {
        directory: db,
        workers,
        cacheBytes,
        createIfMissing: demo || this.source !== undefined,
        chainId,
        suite,
        keepsChanges: this.options.publish !== undefined,
        hangMs: Math.max(limits.timeoutMs, LEAST_HANG_MS),
        estimates: estimate.workers > 0 ? estimate : undefined,
        pruning: {history, rests: true, onEvent: event => logPruning(event, log)},
        onWorkerExit: error => trouble.reportWorkerExit(error),
        onWriting: stopped => trouble.reportWriting(stopped),
        onLost: error => this.fail(new WorkError(`the store cannot be opened again: ${error.message}`)),
      },
      ({kind, to}, answer) => log.info({to, ...answerFields(answer)}, `proofd ${kind}`),
    );
    this.engine = store.engine;
    return (_, onWait) => store.close(!this.isStarted, onWait);
  }

  /** Finalizes all its blocks. Stored ones are only compared, so an interrupted import continues. */
  private async importDemo(): Promise<undefined> {
    const {demo, chainId} = this.options;
    if (!demo) return;
    const [genesisPath, blocksPath] = DEMO_FILES.map(url => fileURLToPath(url)) as [string, string];
    const source = {kind: "blocks", genesisPath, blocksPath} as const;
    const rules = {finalized: "last", allowUnverified: false, chainId} as const;
    const {stopping, onDemo = () => {}} = this.surroundings;
    const running = this.engine.startImport({source, ...rules}, onDemo);
    void stopping?.then(() => running.stop());
    const outcome = await running.outcome;
    if (!outcome.ok) throw new (outcome.isFinal ? SettingsError : WorkError)(`--demo: ${outcome.message}`);
  }

  private async startFinality(): Promise<Stop | undefined> {
    if (this.options.finality === undefined) return undefined;
    // Imported here, because undici's 100 modules are a tenth of a start's time.
    const {startFinality} = await import("./finality/finality.ts");
    const finality = startFinality(this.options.finality, this.engine, this.log);
    this.finality = finality;
    return () => finality.stop();
  }

  private async openGateway(): Promise<Stop | undefined> {
    const {gateway: url} = this.options;
    if (url === undefined) return undefined;
    const {Gateway} = await import("../gateway/gateway.ts");
    const gateway = new Gateway(url, this.log);
    this.gateway = gateway;
    return () => gateway.close();
  }

  private get estimates(): Estimates {
    const {settings, workers} = this.options.estimate;
    if (workers === 0) return {kind: "none"};
    const {timeMs} = settings;
    return {kind: "here", timeMs, workers, estimate: (...job) => this.engine.estimate(...job)};
  }

  /** Only a store of the suite keccak can have slices. */
  private async openSlots(): Promise<Stop | undefined> {
    const {engine, log} = this;
    const {l2, sliceFetches} = this.options;
    if (l2 === undefined || engine.store.reader.hasTrees) return undefined;
    const {SlotFetcher} = await import("../slices/slotFetcher.ts");
    const slots = new SlotFetcher(l2.nodes, sliceFetches, proven => engine.writes.keepSlots(proven), log);
    this.slots = slots;
    return () => slots.close();
  }

  private async listen(): Promise<Stop> {
    const {engine, trouble, log, finality, estimates, gateway, slots} = this;
    const {workers, estimate} = this.options;
    const maxConnections = limitConnections(workers + estimate.workers);
    const front = createFront({...this.options, maxConnections}, engine, estimates, trouble, log, {
      gateway,
      source: this.sourceStatus,
      finality: finality?.status,
      publishing: this.publishStatus,
      slots,
    });
    this.front = front;
    this.boundPort = await front.http.listen().catch((error: Error) => {
      const Kind = error instanceof UwsRefused ? SettingsError : WorkError;
      throw new Kind(error.message);
    });
    this.metricsPort = await front.http.listenForOperators().catch((error: Error) => {
      front.http.close();
      throw new WorkError(`--metrics-port: ${error.message}`);
    });
    return withinMs => endRequests(front, gateway, withinMs * DRAIN_FRACTION, log);
  }

  /** Closing the store waits for the import's current block. */
  private async startImport(): Promise<Stop | undefined> {
    const {source, sourceStatus: status, engine, log} = this;
    if (source === undefined || status === undefined) return undefined;
    const {finalized, allowUnverified = false, chainId} = this.options;
    const onFinal = (reason: string): void =>
      this.fail(new SettingsError(`the import can never succeed: ${reason}`));
    const rules = {finalized, allowUnverified, chainId};
    const replacement = await this.prepareReplacement(status);
    const onBehind = (): string => replacement?.attempt() ?? "";
    const following = new Following({engine, source, rules, status, onFinal, onBehind, log});
    return async () => {
      following.stop();
      await replacement?.stop();
    };
  }

  private async prepareReplacement(status: SourceStatus): Promise<StoreReplacement | undefined> {
    const {engine, refused, log} = this;
    const target = this.snapshotTarget();
    if (target === undefined) return undefined;
    const {StoreReplacement} = await import("./following/storeReplacement.ts");
    const isNeeded = (): boolean => status.state === "behind";
    return new StoreReplacement({target, engine, refused, isNeeded, onTaken: () => this.replace(), log});
  }

  private async publish(): Promise<Stop | undefined> {
    const {publishStatus: status, engine, log} = this;
    const {db, publish} = this.options;
    if (publish === undefined || status === undefined) return undefined;
    const {Publishing} = await import("./publishing/publishing.ts");
    const publishing = new Publishing(db, publish, engine, status, log);
    return () => publishing.stop();
  }

  private verify(): Stop | undefined {
    if (!this.options.verify) return undefined;
    const verifying = startVerifying(this.options.db, this.front.metrics, this.trouble, this.log);
    return async () => {
      verifying.stop();
      await verifying.outcome.catch(() => {}); // logged where it was started
    };
  }
}

/** @param drainMs - after which unfinished calls get errors, and busy connections are closed */
async function endRequests(
  {http, dispatcher}: Front,
  gateway: Gateway | undefined,
  drainMs: number,
  log: Logger,
): Promise<void> {
  let cut = setTimeout(async () => {
    log.warn("requests are still unfinished; closing their connections");
    // The callers of forwarded calls are told that the node may have these.
    await gateway?.close();
    dispatcher.endAll();
    cut = setTimeout(() => http.close(), FLUSH_MS);
  }, drainMs);
  await http.drain();
  clearTimeout(cut);
  await new Promise(resolve => setTimeout(resolve, FLUSH_MS));
  http.close();
  dispatcher.close();
}

function logPruning(event: PruneEvent, log: Logger): void {
  if (event.kind === "begin") log.info(event.run, "pruning blocks that are not kept");
  else if (event.kind === "end") {
    const {blocks, pages, ms} = event;
    log.info({blocks, pages, ms: Math.round(ms)}, "pruned");
  } else if (event.kind === "waits")
    log.warn({reason: event.error.message}, "pruning waits until the disk takes writes again");
  else
    log.error(
      {err: event.error},
      "pruning failed: no more blocks are pruned until the store is opened again",
    );
}
