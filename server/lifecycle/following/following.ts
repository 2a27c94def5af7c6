/** Runs the import of --diffs, --l2 or --feed while the service runs. A failed import from nodes is retried. */
import {setTimeout as sleep} from "node:timers/promises";
import type {Logger} from "pino";
import {Backoff} from "../../../nodes/rpc/backoff.ts";
import {isSameFailure} from "../../../nodes/rpc/node.ts";
import type {Engine} from "../../../workers/engine.ts";
import type {Head} from "../../../workers/messages/head.ts";
import type {ImportEvent, ImportJob, ImportOutcome} from "../../../workers/messages/importJob.ts";
import type {SourceState} from "../../../workers/messages/importSource.ts";
import type {Running} from "../../../workers/threads/running.ts";
import type {SourceStatus} from "../../observe/sourceStatus.ts";
import {headFields} from "../control/blockCommand.ts";
import type {FollowedSource} from "../serviceOptions.ts";
import {SourceLog} from "./sourceLog.ts";

const IMPORT_LINE_EVERY_MS = 10_000;
const RETRY_WAITS = {firstMs: 1000, longestMs: 60_000};
/** A feed is looked at more often: the next message may mend it, and asking costs nobody anything. */
const FEED_WAITS = {firstMs: 1000, longestMs: 4000};
/** Longest reason that /readyz shows: the start of the failure's first line. The log has the whole text. */
const MAX_REASON_LENGTH = 500;

type Imported = Extract<ImportOutcome, {ok: true}>;
type Failure = Pick<Extract<ImportOutcome, {ok: false}>, "ok" | "message" | "isFinal" | "needsSnapshot">;

/** How long a node is followed that was chosen after a failure, before the others are looked at. */
const FOLLOWED_MS = 60_000;

interface FollowingParts {
  readonly engine: Engine;
  readonly source: FollowedSource;
  /** What stays the same at every attempt. */
  readonly rules: Pick<ImportJob, "finalized" | "allowUnverified" | "chainId">;
  readonly status: SourceStatus;
  /** Called if the import has failed and will always fail. */
  readonly onFinal: (reason: string) => void;
  /** Called each time that the feed does not go on with what is held. @returns what is known of a snapshot that does; may be empty */
  readonly onBehind?: () => string;
  readonly log: Logger;
}

export class Following {
  private readonly engine: Engine;
  private readonly status: SourceStatus;
  private readonly log: Logger;
  private readonly sourceLog: SourceLog;
  private readonly unwatch: () => void;
  private readonly stopping = new AbortController();
  /** undefined between attempts. */
  private running: Running<ImportOutcome> | undefined;
  private attempts = 0;
  private readonly backoff: Backoff;
  /** The newest block at the last failure. */
  private failedAt = -1;
  private startedMs = 0;
  private nextLineMs = 0;
  /** What the status has of the running attempt. */
  private counted = {blocks: 0, busyMs: 0};

  constructor(private readonly parts: FollowingParts) {
    this.engine = parts.engine;
    this.backoff = new Backoff(parts.source.kind === "feed" ? FEED_WAITS : RETRY_WAITS);
    this.status = parts.status;
    this.log = parts.log.child({source: nameSource(parts.source)});
    this.sourceLog = new SourceLog(this.log, this.status);
    this.unwatch = this.engine.chain.onChange((head, before) => this.noteHead(head, before));
    void this.run();
  }

  /** Asks the import to end after the current block. It is not started again. */
  stop(): void {
    this.unwatch();
    this.stopping.abort();
    this.running?.stop();
  }

  /** Never rejects. */
  private async run(): Promise<void> {
    for (;;) {
      const outcome = await this.importOnce();
      if (outcome.ok) return this.end(outcome);
      const retryMs = this.fail(outcome);
      if (retryMs === undefined) return;
      await sleep(retryMs, undefined, {signal: this.stopping.signal}).catch(() => {}); // looked at below
      if (this.stopping.signal.aborted) return;
      this.attempts++;
      this.status.retries++;
    }
  }

  private async importOnce(): Promise<Imported | Failure> {
    const {source, rules} = this.parts;
    this.startedMs = performance.now();
    this.counted = {blocks: 0, busyMs: 0};
    this.status.nodes.clear();
    this.running = this.engine.startImport(
      {source: turnNodes(source, this.attempts), ...rules},
      event => this.noteProgress(event),
      event => {
        if (event.kind === "state") this.noteState(event.state, event.reason);
        else this.sourceLog.note(event);
      },
    );
    try {
      return await this.running.outcome;
    } catch (error) {
      return {ok: false, message: `the import thread died: ${(error as Error).message}`, isFinal: false};
    } finally {
      this.running = undefined;
    }
  }

  private noteProgress(event: ImportEvent): void {
    const {head, blocks, accounts, target, busyMs} = event;
    const {status} = this;
    status.target = target;
    // A rollback takes blocks back.
    status.blocks += Math.max(0, blocks - this.counted.blocks);
    status.busyMs += busyMs - this.counted.busyMs;
    this.counted = {blocks, busyMs};
    // At the head of its source, a new block is no news.
    if ((head.latest ?? -1) >= (target ?? Number.POSITIVE_INFINITY) || performance.now() < this.nextLineMs)
      return;
    this.nextLineMs = performance.now() + IMPORT_LINE_EVERY_MS;
    const pace = paceOf(event, performance.now() - this.startedMs);
    this.log.info({head: headFields(head), blocks, accounts, target, ...pace}, "importing");
  }

  /** A block above those before the failure shows that the import works again. */
  private noteHead({latest}: Head, before: Head): void {
    if (latest === undefined) return;
    // Between attempts only a rollback command removes blocks. The blocks that come in their place count as new.
    if (this.running === undefined) this.failedAt = Math.min(this.failedAt, latest);
    if (latest <= (before.latest ?? -1)) return;
    this.status.receivedMs = Date.now();
    if (this.status.hasStopped && latest > this.failedAt) this.recover("reading");
  }

  private noteState(state: SourceState, reason: string | undefined): void {
    // The new attempt has only started and may still fail.
    if (this.status.hasStopped && state !== "following") return;
    if (this.status.hasStopped) this.recover(state);
    this.status.state = state;
    this.status.reason = reason ?? "";
    this.sourceLog.noteState(state, reason);
  }

  private recover(state: SourceState): void {
    this.status.state = state;
    this.status.reason = "";
    this.attempts = 0;
    this.backoff.reset();
    this.log.info({latest: this.engine.chain.head().latest}, "the import continues after a failure");
  }

  private end({head, blocks, stopped}: Imported): void {
    if (!stopped) this.status.state = "ended";
    this.log.info({head: headFields(head), blocks}, "the import has ended");
  }

  /** @returns when it is tried again; undefined: never */
  private fail({message, isFinal, needsSnapshot = false}: Failure): number | undefined {
    const {status, engine, parts} = this;
    const snapshot = needsSnapshot ? (parts.onBehind?.() ?? "") : "";
    const reason = shortenReason(snapshot === "" ? message : `${message}. ${snapshot}`);
    const isKnown = status.hasStopped && isSameFailure(status.reason, reason);
    status.state = needsSnapshot ? "behind" : "failed";
    status.reason = reason;
    this.failedAt = engine.chain.newest;
    const canRetry = parts.source.kind !== "diffs";
    const isTried = canRetry && !isFinal && !this.stopping.signal.aborted;
    const retryMs = isTried ? Math.round(this.backoff.next()) : undefined;
    const fields = {head: headFields(engine.chain.head()), reason: message, retryMs: retryMs ?? null};
    this.log[isKnown ? "debug" : "error"](
      fields,
      "the import failed, the service keeps serving the blocks it has",
    );
    if (isFinal && canRetry) parts.onFinal(message);
    return retryMs;
  }
}

/** After a failure, follows another node first, for a while: the previous one may have given a wrong block. */
function turnNodes(source: FollowedSource, attempt: number): FollowedSource {
  if (source.kind !== "node" || attempt === 0) return source;
  const {urls} = source.nodes;
  const first = attempt % urls.length;
  const turned = [...urls.slice(first), ...urls.slice(0, first)];
  return {...source, nodes: {...source.nodes, urls: turned}, surveyAfterMs: FOLLOWED_MS};
}

/** For the log: a path, or nodes and servers without the parts of their URLs that may hold keys. */
function nameSource(source: FollowedSource): string {
  if (source.kind === "diffs") return source.path;
  if (source.kind === "feed") return source.nats.urls.map(url => new URL(url).host).join(", ");
  return source.nodes.urls.map(url => new URL(url).origin).join(", ");
}

/** How fast an import gets nearer to its target, if it has one, and how long it will still take: undefined while nothing has come. */
function paceOf({blocks, head, target}: ImportEvent, ms: number): object | undefined {
  if (target === undefined) return undefined;
  const rate = (1000 * Math.max(0, blocks)) / Math.max(1, ms);
  const left = Math.max(0, target - (head.latest ?? 0));
  return {
    blocksPerSecond: Math.round(10 * rate) / 10,
    secondsLeft: rate === 0 ? undefined : Math.ceil(left / rate),
  };
}

function shortenReason(message: string): string {
  const line = message.split("\n", 1)[0] as string;
  return line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}...` : line;
}
