/** What /metrics shows. Figures that change with each call are plain numbers elsewhere. They are read when /metrics is. */
import {Counter, collectDefaultMetrics, Gauge, Histogram, Registry} from "prom-client";
import type {Head} from "../../workers/job/head.ts";
import type {CallTally} from "./callTally.ts";
import {type EstimateQueues, registerEstimateQueues} from "./estimateMetrics.ts";
import {registerFinality} from "./finalityMetrics.ts";
import type {FinalityStatus} from "./finalityStatus.ts";
import {type PruneFigures, registerPruning} from "./pruneMetrics.ts";
import type {Readiness} from "./readiness.ts";
import type {RefusalLog} from "./refusalLog.ts";
import {registerGauge, registerTotal} from "./scrapedFigure.ts";
import {registerSource} from "./sourceMetrics.ts";
import type {SourceStatus} from "./sourceStatus.ts";
import type {TroubleLog} from "./troubleLog.ts";
import {registerWaits, type WaitFigures} from "./waitFigures.ts";

/** Where the figures are read. */
export interface MetricSources {
  readonly tally: CallTally;
  readonly trouble: TroubleLog;
  /** Bytes of finished answers that wait for readers, and connections closed because of too many. */
  readonly unsent: {readonly total: number; readonly cut: number};
  /** Open connections, and connections closed because there were too many. */
  readonly connections: {readonly open: number; readonly refused: number};
  /** Queued cost by lane. */
  readonly readQueuedCosts: () => Readonly<Record<string, number>>;
  readonly estimates: EstimateQueues;
  readonly refusals: RefusalLog;
  readonly waits: WaitFigures;
  readonly readHead: () => Head;
  readonly readiness: Readiness;
  /** undefined: nothing is pruned. */
  readonly pruner: PruneFigures | undefined;
  /** The source of the import that runs while the service answers requests, if there is one. */
  readonly source: SourceStatus | undefined;
  /** undefined: nothing but imports and orders tells what is finalized. */
  readonly finality: FinalityStatus | undefined;
}

const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class Metrics {
  private readonly registry = new Registry();
  private readonly duration: Histogram;
  private readonly aborted: Counter;
  private readonly refusedBodies: Counter;
  private readonly verified: Gauge;
  private readonly verifyFailed: Gauge;

  constructor(sources: MetricSources) {
    const registers = [this.registry];
    collectDefaultMetrics({register: this.registry});
    this.duration = new Histogram({
      name: "proofd_request_duration_seconds",
      help: "Time from the last byte of a request's body to the last byte of its answer, including slow readers and waits for finality",
      buckets: BUCKETS_SECONDS,
      registers,
    });
    this.aborted = new Counter({
      name: "proofd_requests_aborted_total",
      help: "Requests whose client went away before the answer was complete",
      registers,
    });
    this.refusedBodies = new Counter({
      name: "proofd_bodies_refused_total",
      help: "Request bodies that were too large, or that there was no room for",
      labelNames: ["reason"],
      registers,
    });
    this.verified = new Gauge({
      name: "proofd_verify_bytes",
      help: "Bytes of tables that --verify checks (all), and has checked (done)",
      labelNames: ["which"],
      registers,
    });
    this.verifyFailed = new Gauge({
      name: "proofd_verify_failed",
      help: "1 after --verify could not finish its check",
      registers,
    });
    this.verifyFailed.set(0);
    const tableFindings = () => sources.trouble.tableFindings;
    registerTotal(
      registers,
      "proofd_verify_findings_total",
      "Damage to tables that --verify found",
      tableFindings,
    );
    registerCalls(registers, sources.tally);
    registerHead(registers, sources.readHead);
    registerSource(registers, sources.readiness, sources.source);
    if (sources.finality !== undefined) registerFinality(registers, sources.finality);
    registerPruning(registers, sources.pruner);
    registerQueuedCost(registers, sources.readQueuedCosts);
    registerEstimateQueues(registers, sources.estimates, sources.refusals);
    registerWaits(registers, sources.waits);
    registerGauge(
      registers,
      "proofd_held_bytes",
      "Bytes of finished answers that wait for readers",
      () => sources.unsent.total,
    );
    registerTotal(
      registers,
      "proofd_readers_cut_total",
      "Connections closed because too many bytes waited for readers",
      () => sources.unsent.cut,
    );
    registerGauge(registers, "proofd_connections", "Open connections", () => sources.connections.open);
    registerTotal(
      registers,
      "proofd_connections_refused_total",
      "Connections closed because too many were open",
      () => sources.connections.refused,
    );
    registerTotal(
      registers,
      "proofd_worker_exits_total",
      "Worker threads that died",
      () => sources.trouble.workerExits,
    );
    const damaged = () => sources.trouble.damagedRecords;
    registerTotal(registers, "proofd_damaged_records_total", "Reads that met a damaged record", damaged);
  }

  observeRequest(durationMs: number, isAborted: boolean): void {
    this.duration.observe(durationMs / 1000);
    if (isAborted) this.aborted.inc();
  }

  countRefusedBody(reason: "too_large" | "no_room"): void {
    this.refusedBodies.inc({reason});
  }

  /** @param all - bytes of the tables that existed at the start */
  setVerified(done: number, all: number): void {
    this.verified.set({which: "done"}, done);
    this.verified.set({which: "all"}, all);
  }

  markVerifyFailed(): void {
    this.verifyFailed.set(1);
  }

  async read(): Promise<{type: string; text: string}> {
    return {type: this.registry.contentType, text: await this.registry.metrics()};
  }
}

function registerCalls(registers: Registry[], tally: CallTally): void {
  new Counter({
    name: "proofd_calls_total",
    help: "Calls by method and JSON-RPC error code, 0 for a result",
    labelNames: ["method", "code"],
    registers,
    collect() {
      this.reset();
      for (const {method, code, count} of tally.entries()) this.inc({method, code: String(code)}, count);
    },
  });
}

function registerHead(registers: Registry[], readHead: () => Head): void {
  new Gauge({
    name: "proofd_head_block",
    help: "Numbers of the oldest, the newest finalized and the newest block held",
    labelNames: ["which"],
    registers,
    collect() {
      this.reset();
      for (const [which, block] of Object.entries(readHead()))
        if (block !== undefined) this.set({which}, block);
    },
  });
}

function registerQueuedCost(registers: Registry[], readQueuedCosts: MetricSources["readQueuedCosts"]): void {
  new Gauge({
    name: "proofd_queued_cost",
    help: "Cost of admitted and unfinished calls, for proofs and for gas estimates",
    labelNames: ["lane"],
    registers,
    collect() {
      for (const [lane, cost] of Object.entries(readQueuedCosts())) this.set({lane}, cost);
    },
  });
}
