/** The figures of /metrics that are plain numbers elsewhere, and are read when /metrics is (docs/operations.md, "Metrics"). */
import type {Pruner} from "../../workers/chain/pruner.ts";
import type {Head} from "../../workers/job/head.ts";
import {NODE_SOURCES} from "../../workers/job/importSource.ts";
import type {CallTally} from "./callTally.ts";
import {FINALITY_STATES, type FinalityStatus} from "./finalityStatus.ts";
import type {EstimateQueues} from "./queueFigures.ts";
import type {Readiness} from "./readiness.ts";
import type {RefusalLog} from "./refusalLog.ts";
import {SOURCE_STATES, type SourceStatus} from "./sourceStatus.ts";
import type {TroubleLog} from "./troubleLog.ts";
import type {WaitFigures} from "./waitFigures.ts";

/** What each means. Those that end in `_total` are counters, the others gauges. */
export const HELP = {
  proofd_block_received_timestamp_seconds:
    "When a block was last imported by this process, in seconds since 1970",
  proofd_bodies_refused_total: "Request bodies that were too large, or that there was no room for",
  proofd_calls_total: "Calls by method and JSON-RPC error code, 0 for a result",
  proofd_connections: "Open connections",
  proofd_connections_refused_total: "Connections closed because too many were open",
  proofd_damaged_records_total: "Reads that met a damaged record",
  proofd_estimate_library_runs_total: "Gas estimates that the library made in place of our own EVM",
  proofd_estimate_queue_calls:
    "Gas estimates in each queue: first (waiting or running), second (waiting), long (waiting)",
  proofd_estimate_restarts_total:
    "Gas estimates that moved to the next queue and begin again there, because they could not be paused",
  proofd_estimate_starts_total:
    "Gas estimates that left a queue for a thread. From the queues second and long, they go on or begin again",
  proofd_estimate_wait_seconds_total: "Total time that these gas estimates waited in the queue",
  proofd_estimates_given_back_total:
    "Gas estimates that came back from a task because slow ones in it left no time to begin them",
  proofd_evm_library_runs_total: "Blocks that the library had to execute in place of our own EVM",
  proofd_evm_mismatches_total: "Blocks of which our own EVM did not say what the library and the header say",
  proofd_finality_answered_timestamp_seconds:
    "When the source of --finality last answered, in seconds since 1970",
  proofd_finality_known_block: "Newest block that the source of --finality calls finalized, held or not",
  proofd_finality_state: "1 for the current state of --finality, 0 for all others",
  proofd_head_block: "Numbers of the oldest, the newest finalized and the newest block held",
  proofd_head_lag_seconds: "Age of the newest block held, which --max-lag limits",
  proofd_head_timestamp_seconds: "Timestamp of the newest block held, in seconds since 1970",
  proofd_held_bytes: "Bytes of finished answers that wait for readers",
  proofd_import_failed: "1 while the import of --diffs or --l2 has failed",
  proofd_import_retries_total: "Attempts to continue a failed import",
  proofd_layer1_final_block: "Newest layer-1 block that is final",
  proofd_layer1_read_block: "Newest layer-1 block whose events were read",
  proofd_prune_backlog_blocks: "Blocks that are still to be pruned, at most",
  proofd_prune_failed: "1 after pruning has failed",
  proofd_pruned_blocks_total: "Blocks pruned since the start",
  proofd_pruned_pages_total: "Pages removed by pruning since the start",
  proofd_queued_cost: "Cost of admitted and unfinished calls, for proofs and for gas estimates",
  proofd_readers_cut_total: "Connections closed because too many bytes waited for readers",
  proofd_refused_total:
    "Requests for proofs and gas estimates turned away because a queue was full or the wait in it would be too long",
  proofd_requests_aborted_total: "Requests whose client went away before the answer was complete",
  proofd_source_chosen: "1 for the way in which blocks of --l2 are read, 0 for all others",
  proofd_source_reorganisations_total:
    "How often blocks were removed because the chain of --l2 was reorganised",
  proofd_source_state: "1 for the current state of the source of --diffs or --l2, 0 for all others",
  proofd_source_target_block:
    "The block of --l2 that the import is on the way to: the node's head when it was last read",
  proofd_verify_bytes: "Bytes of tables that --verify checks (all), and has checked (done)",
  proofd_verify_failed: "1 after --verify could not finish its check",
  proofd_verify_findings_total: "Damage to tables that --verify found",
  proofd_waiting_calls: "Calls that wait for a block to be finalized",
  proofd_waits_total: "Ended waits for finality, by how they ended",
  proofd_worker_exits_total: "Worker threads that died",
} as const;

export type FigureName = keyof typeof HELP;

export const LABELS: {readonly [name in FigureName]?: readonly string[]} = {
  proofd_bodies_refused_total: ["reason"],
  proofd_calls_total: ["method", "code"],
  proofd_estimate_library_runs_total: ["reason"],
  proofd_estimate_queue_calls: ["queue"],
  proofd_estimate_starts_total: ["queue"],
  proofd_estimate_wait_seconds_total: ["queue"],
  proofd_evm_library_runs_total: ["reason"],
  proofd_finality_state: ["state"],
  proofd_head_block: ["which"],
  proofd_queued_cost: ["lane"],
  proofd_refused_total: ["queue", "reason"],
  proofd_source_chosen: ["source"],
  proofd_source_state: ["state"],
  proofd_verify_bytes: ["which"],
  proofd_waits_total: ["outcome"],
};

/** The values of the labels, and the figure. */
type FigureRow = readonly [...string[], number];

/** undefined: not known, and not shown. */
export type FigureValues = {readonly [name in FigureName]?: number | Iterable<FigureRow> | undefined};

/** Where the figures are read. */
export interface FigureSources {
  readonly tally: CallTally;
  readonly trouble: TroubleLog;
  readonly unsent: {readonly total: number; readonly cut: number};
  readonly connections: {readonly open: number; readonly refused: number};
  readonly readQueuedCosts: () => readonly (readonly [lane: string, cost: number])[];
  readonly estimates: EstimateQueues;
  readonly refusals: RefusalLog;
  readonly waits: WaitFigures;
  readonly readHead: () => Head;
  readonly readiness: Readiness;
  /** undefined: nothing is pruned. */
  readonly pruner: Pick<Pruner, "blocks" | "pages" | "backlog" | "hasFailed"> | undefined;
  /** The source of the import that runs while the service answers requests, if there is one. */
  readonly source: SourceStatus | undefined;
  /** undefined: nothing but imports and orders tells what is finalized. */
  readonly finality: FinalityStatus | undefined;
}

export function readFigures(sources: FigureSources): FigureValues {
  const {tally, trouble, unsent, connections, waits, refusals, readiness, source, finality, pruner} = sources;
  return {
    proofd_calls_total: tally.rows(),
    proofd_connections: connections.open,
    proofd_connections_refused_total: connections.refused,
    proofd_damaged_records_total: trouble.damagedRecords,
    proofd_head_block: Object.entries(sources.readHead()).filter(([, block]) => block !== undefined),
    proofd_head_timestamp_seconds: readiness.readHeadSeconds(),
    proofd_held_bytes: unsent.total,
    proofd_import_failed: Number(source?.state === "failed"),
    proofd_queued_cost: sources.readQueuedCosts(),
    proofd_readers_cut_total: unsent.cut,
    proofd_refused_total: refusals.counts().map(({queue, reason, count}) => [queue, reason, count]),
    proofd_verify_findings_total: trouble.tableFindings,
    proofd_waiting_calls: waits.waiting,
    proofd_waits_total: waits.ended,
    proofd_worker_exits_total: trouble.workerExits,
    ...readEstimates(sources.estimates),
    ...(source === undefined ? {} : readSource(source, readiness)),
    ...(finality === undefined ? {} : readFinality(finality)),
    ...(pruner === undefined ? {} : readPruning(pruner)),
  };
}

function readEstimates(estimates: EstimateQueues): FigureValues {
  const queues = estimates.readEstimateQueues();
  return {
    proofd_estimate_library_runs_total: estimates.libraryRuns,
    proofd_estimate_queue_calls: queues.map(({figures, calls}) => [figures.name, calls]),
    proofd_estimate_restarts_total: estimates.restarts,
    proofd_estimate_starts_total: queues.map(({figures}) => [figures.name, figures.started]),
    proofd_estimate_wait_seconds_total: queues.map(({figures}) => [figures.name, figures.waitedMs / 1000]),
    proofd_estimates_given_back_total: estimates.givenBack,
  };
}

function readSource(source: SourceStatus, readiness: Readiness): FigureValues {
  const ofNodes = {
    proofd_evm_library_runs_total: source.libraryRuns,
    proofd_evm_mismatches_total: source.evmMismatches,
    proofd_source_chosen: oneOf(NODE_SOURCES, source.chosen),
    proofd_source_reorganisations_total: source.reorganisations,
    proofd_source_target_block: source.target,
  };
  return {
    proofd_block_received_timestamp_seconds: toSeconds(source.receivedMs),
    proofd_head_lag_seconds: readiness.readLagSeconds(),
    proofd_import_retries_total: source.retries,
    proofd_source_state: oneOf(SOURCE_STATES, source.state),
    ...(source.flag === "l2" ? ofNodes : {}),
  };
}

function readFinality(status: FinalityStatus): FigureValues {
  return {
    proofd_finality_answered_timestamp_seconds: toSeconds(status.answeredMs),
    proofd_finality_known_block: status.known,
    proofd_finality_state: oneOf(FINALITY_STATES, status.state),
    ...(status.source === "l1"
      ? {proofd_layer1_final_block: status.layer1Final, proofd_layer1_read_block: status.layer1Read}
      : {}),
  };
}

function readPruning({
  backlog,
  hasFailed,
  blocks,
  pages,
}: NonNullable<FigureSources["pruner"]>): FigureValues {
  return {
    proofd_prune_backlog_blocks: backlog,
    proofd_prune_failed: Number(hasFailed),
    proofd_pruned_blocks_total: blocks,
    proofd_pruned_pages_total: pages,
  };
}

/** 1 for the current name, 0 for the others. */
function oneOf<Name extends string>(names: readonly Name[], current: Name | undefined): FigureRow[] {
  return names.map(name => [name, Number(name === current)]);
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
