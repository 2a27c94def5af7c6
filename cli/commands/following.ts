/**
 * Runs the import of --diffs while the service answers requests. Changes of the source are logged and shown in /metrics
 * and /readyz. A failed import is tried again, because the operator may repair the source.
 *
 * A new attempt reads the file from its start. Blocks that are already in the store are recognised and skipped, so
 * nothing is lost. A block that does not follow the newest one is refused at every attempt. Standard input cannot be read
 * again, so its failure is final.
 */
import type {Logger} from "pino";
import type {SourceStatus} from "../../server/observe/sourceStatus.ts";
import type {Head} from "../../workers/job/head.ts";
import type {ImportEvent, ImportJob, ImportOutcome} from "../../workers/job/importJob.ts";
import type {SourceChange, SourceEvent, SourceState} from "../../workers/job/importSource.ts";
import type {ProofPool} from "../../workers/pool/pool.ts";
import type {Running} from "../../workers/pool/running.ts";

const IMPORT_LINE_EVERY_MS = 10_000;
/** A FIFO may have a thousand writers a second. Each change is counted, but not each is logged. */
const CHANGE_LINE_EVERY_MS = 1000;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;
/** Longest reason that is shown: the start of the failure's first line. The log has the whole text. */
const MAX_REASON_LENGTH = 500;

const STATE_LINES: Record<SourceState, string> = {
  reading: "the source is being read",
  following: "the source is read to its end; new lines are imported as they come",
  waiting: "waiting for the source: it does not exist, or has no writer",
};

const CHANGE_LINES: Record<SourceChange, string> = {
  replaced:
    "another file has replaced the source: the old one was read to its end, the new one is read from its start",
  truncated: "the source became shorter; it is read again from its start",
  writer_left: "the writer of the source has gone; waiting for the next one",
  line_cut: "the source ended in the middle of a line; this line is dropped",
};

/** What stays the same at every attempt. */
export type ImportRules = Pick<ImportJob, "finalized" | "chainId">;

export class Following {
  private readonly pool: ProofPool;
  private readonly path: string;
  private readonly rules: ImportRules;
  private readonly status: SourceStatus;
  private readonly log: Logger;
  private running: Running<ImportOutcome> | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isStopped = false;
  private attempts = 0;
  private startedMs = 0;
  private readonly unwatch: () => void;
  private nextLineMs = 0;
  private readonly nextChangeMs = new Map<SourceChange, number>();

  /** Starts the import. @param path - a file, a FIFO or "-" */
  constructor(pool: ProofPool, path: string, rules: ImportRules, status: SourceStatus, log: Logger) {
    this.pool = pool;
    this.path = path;
    this.rules = rules;
    this.status = status;
    this.log = log.child({source: path});
    this.unwatch = pool.chain.onChange((head, before) => this.noteHead(head, before));
    this.start();
  }

  /** Asks the import to end after the current block. It is not started again. */
  stop(): void {
    this.isStopped = true;
    this.unwatch();
    clearTimeout(this.retry);
    this.running?.stop();
  }

  private start(): void {
    this.startedMs = performance.now();
    // A compressed file cannot grow, so it is read once.
    const source = {kind: "diffs", path: this.path, follow: !this.path.endsWith(".gz")} as const;
    this.running = this.pool.startImport(
      {source, ...this.rules},
      event => this.noteProgress(event),
      event => this.noteSource(event),
    );
    this.running.outcome.then(
      outcome => this.end(outcome),
      (error: unknown) => this.fail(`the import thread died: ${(error as Error).message}`),
    );
  }

  private noteProgress({head, blocks, accounts}: ImportEvent): void {
    if (performance.now() < this.nextLineMs) return;
    this.nextLineMs = performance.now() + IMPORT_LINE_EVERY_MS;
    this.log.info({head, blocks, accounts}, "importing");
  }

  /** A new block on disk shows that the import works again. */
  private noteHead({latest}: Head, before: Head): void {
    if (latest === undefined || latest <= (before.latest ?? -1)) return;
    this.status.receivedMs = Date.now();
    if (this.status.state === "failed") this.recover("reading");
  }

  private noteSource(event: SourceEvent): void {
    if (event.kind === "change") {
      this.noteChange(event.change, event.line);
      return;
    }
    const {state} = event;
    // The new attempt has only started and may still fail.
    if (this.status.state === "failed" && state !== "following") return;
    if (this.status.state === "failed") this.recover(state);
    this.status.state = state;
    this.log[state === "waiting" ? "warn" : "info"]({state}, STATE_LINES[state]);
  }

  private noteChange(change: SourceChange, line: number | undefined): void {
    this.status.countChange(change);
    const nowMs = performance.now();
    if (nowMs < (this.nextChangeMs.get(change) ?? 0)) return;
    this.nextChangeMs.set(change, nowMs + CHANGE_LINE_EVERY_MS);
    this.log.warn({change, ...(line === undefined ? {} : {line})}, CHANGE_LINES[change]);
  }

  private recover(state: SourceState): void {
    this.status.state = state;
    this.status.reason = "";
    this.attempts = 0;
    this.log.info({latest: this.pool.chain.head().latest}, "the import continues after a failure");
  }

  private end(outcome: ImportOutcome): void {
    if (!outcome.ok) {
      this.fail(outcome.message);
      return;
    }
    const {head, blocks, stopped} = outcome;
    if (!stopped) this.status.state = "ended";
    this.log[stopped ? "info" : "warn"]({head, blocks}, "the import has ended");
  }

  private fail(message: string): void {
    const tookMs = performance.now() - this.startedMs;
    const reason = shortenReason(message);
    const isKnown = this.status.state === "failed" && this.status.reason === reason;
    this.status.state = "failed";
    this.status.reason = reason;
    const retryMs = this.canRetry ? this.pauseMs(tookMs) : undefined;
    const fields = {head: this.pool.chain.head(), reason: message, retryMs: retryMs ?? null};
    this.log[isKnown ? "debug" : "error"](
      fields,
      "the import failed; the service goes on with the blocks it has",
    );
    if (retryMs === undefined) return;
    this.attempts++;
    this.retry = setTimeout(() => {
      this.status.retries++;
      this.start();
    }, retryMs);
  }

  /** Doubles after each failed attempt. It is at least as long as the attempt, so that reading takes at most half of the time. */
  private pauseMs(tookMs: number): number {
    if (this.attempts === 0) return FIRST_RETRY_MS;
    return Math.max(Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.attempts), Math.round(tookMs));
  }

  private get canRetry(): boolean {
    return this.path !== "-" && !this.isStopped;
  }
}

function shortenReason(message: string): string {
  const line = message.split("\n", 1)[0] as string;
  return line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}...` : line;
}
