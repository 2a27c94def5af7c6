/** The figures of /metrics that are plain numbers elsewhere, and are read when /metrics is (docs/operations.md, "Metrics"). */
import type {Pruner} from "../../workers/chain/pruner.ts";
import type {Engine} from "../../workers/engine.ts";
import {NODE_SOURCES} from "../../workers/messages/importSource.ts";
import {THREAD_STATES, type WatchedThread} from "../../workers/messages/watchedThread.ts";
import {COMMIT, VERSION} from "../version.ts";
import type {CallTally} from "./callTally.ts";
import type {FigureName} from "./figureTable.ts";
import {FINALITY_STATES, type FinalityStatus} from "./finalityStatus.ts";
import type {FigureRow} from "./metricsText.ts";
import {PUBLISH_STATES, type PublishStatus} from "./publishStatus.ts";
import type {EstimateQueues} from "./queueFigures.ts";
import type {Readiness, Statuses} from "./readiness.ts";
import type {RefusalLog} from "./refusalLog.ts";
import {SOURCE_STATES, type SourceStatus} from "./sourceStatus.ts";
import type {TroubleLog} from "./troubleLog.ts";

/** Rows with their labels' values. The key names the labels, separated by commas. */
type LabelledRows = {readonly [labels: string]: Iterable<FigureRow>};

/** undefined: not known, and not shown. */
export type FigureValues = {readonly [name in FigureName]?: number | LabelledRows | undefined};

export interface FigureSources extends Statuses {
  readonly engine: Engine;
  readonly tally: CallTally;
  readonly trouble: TroubleLog;
  readonly unsent: {readonly total: number; readonly cut: number};
  readonly connections: {readonly open: number; readonly refused: Readonly<Record<string, number>>};
  readonly readQueuedCosts: () => readonly (readonly [lane: string, cost: number])[];
  readonly estimates: EstimateQueues;
  readonly refusals: RefusalLog;
  readonly readiness: Readiness;
  /** By outcome. undefined: there is no node, or the store has whole tries. */
  readonly slotFetches: Readonly<Record<string, number>> | undefined;
}

export function readFigures(sources: FigureSources): FigureValues {
  const {engine, tally, trouble, unsent, connections, refusals, readiness, source, finality} = sources;
  const {accounts, slots, cachedPages, storedPages} = engine.proofCounts.read();
  return {
    proofd_build_info: {
      "version,commit,node,suite": [[VERSION, COMMIT, process.version, engine.chain.suite, 1]],
    },
    proofd_calls_total: {"method,code": tally.rows()},
    proofd_connections: connections.open,
    proofd_connections_refused_total: {reason: Object.entries(connections.refused)},
    proofd_damaged_records_total: trouble.damagedRecords,
    proofd_head_block: {
      which: Object.entries(engine.chain.head()).filter(([, block]) => block !== undefined),
    },
    proofd_head_timestamp_seconds: readiness.readHeadSeconds(),
    proofd_held_bytes: unsent.total,
    proofd_import_failed: Number(source?.hasFailed === true),
    proofd_page_reads_total: {from: Object.entries({cache: cachedPages, store: storedPages})},
    proofd_proved_total: {kind: Object.entries({account: accounts, slot: slots})},
    proofd_queued_cost: {lane: sources.readQueuedCosts()},
    proofd_readers_cut_total: unsent.cut,
    proofd_refused_total: {
      "queue,reason": refusals.counts().map(({queue, reason, count}) => [queue, reason, count]),
    },
    proofd_slice_missed_blocks: engine.chain.gaps.reduce((sum, {from, to}) => sum + to - from + 1, 0),
    proofd_threads: {"kind,state": countThreads(engine.readThreads())},
    proofd_slice_fetches_total: sources.slotFetches && {outcome: Object.entries(sources.slotFetches)},
    proofd_verify_findings_total: trouble.tableFindings,
    proofd_worker_exits_total: trouble.workerExits,
    proofd_writes_stopped: Number(trouble.writesStopped),
    ...readEstimates(sources.estimates),
    ...(source && readSource(source, readiness)),
    ...(finality && readFinality(finality)),
    ...(engine.pruner && readPruning(engine.pruner)),
    ...(sources.publishing && readPublishing(sources.publishing)),
  };
}

function countThreads(threads: readonly WatchedThread[]): FigureRow[] {
  const kinds = [...new Set(threads.map(({kind}) => kind))];
  return kinds.flatMap(kind =>
    THREAD_STATES.map((state): FigureRow => {
      const count = threads.filter(thread => thread.kind === kind && thread.state === state).length;
      return [kind, state, count];
    }),
  );
}

function readEstimates(estimates: EstimateQueues): FigureValues {
  const queues = estimates.readEstimateQueues();
  return {
    proofd_estimate_queue_calls: {queue: queues.map(({figures, calls}) => [figures.name, calls])},
    proofd_estimate_starts_total: {queue: queues.map(({figures}) => [figures.name, figures.started])},
    proofd_estimate_wait_seconds_total: {
      queue: queues.map(({figures}) => [figures.name, figures.waitedMs / 1000]),
    },
    proofd_estimates_given_back_total: estimates.givenBack,
  };
}

function readSource(source: SourceStatus, readiness: Readiness): FigureValues {
  const isFile = source.flag === "diffs";
  return {
    proofd_block_received_timestamp_seconds: toSeconds(source.receivedMs),
    proofd_head_lag_seconds: readiness.readLagSeconds(),
    proofd_import_blocks_total: source.blocks,
    proofd_import_busy_seconds_total: source.busyMs / 1000,
    proofd_import_retries_total: source.retries,
    proofd_source_state: {state: oneOf(SOURCE_STATES, source.state)},
    proofd_source_chosen: source.flag === "l2" ? {source: oneOf(NODE_SOURCES, source.chosen)} : undefined,
    proofd_source_open_resets_total: source.openResets,
    proofd_source_incomplete_slices_total: source.incompleteSlices,
    proofd_source_reorganisations_total: isFile ? undefined : source.reorganisations,
    proofd_source_target_block: isFile ? undefined : source.target,
  };
}

function readPublishing({state, block, snapshotBlock, snapshotFailure}: PublishStatus): FigureValues {
  return {
    proofd_publish_snapshot_failed: Number(snapshotFailure !== ""),
    proofd_publish_state: {state: oneOf(PUBLISH_STATES, state)},
    proofd_published_block: block,
    proofd_published_snapshot_block: snapshotBlock,
  };
}

function readFinality(status: FinalityStatus): FigureValues {
  return {
    proofd_finality_answered_timestamp_seconds: toSeconds(status.answeredMs),
    proofd_finality_known_block: status.known,
    proofd_finality_state: {state: oneOf(FINALITY_STATES, status.state)},
    proofd_layer1_final_block: status.layer1Final,
    proofd_layer1_read_block: status.layer1Read,
  };
}

function readPruning({backlog, hasFailed, blocks, pages}: Pruner): FigureValues {
  return {
    proofd_prune_backlog_blocks: backlog,
    proofd_prune_failed: Number(hasFailed),
    proofd_pruned_blocks_total: blocks,
    proofd_pruned_pages_total: pages,
  };
}

function oneOf<Name extends string>(names: readonly Name[], current: Name | undefined): FigureRow[] {
  return names.map(name => [name, Number(name === current)]);
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
