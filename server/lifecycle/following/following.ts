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
/** Shorter: the next message of a feed may cure it, and asking costs nothing. */
const FEED_WAITS = {firstMs: 1000, longestMs: 4000};
/** Longest reason in /readyz, from the failure's first line. The log has all of it. */
const MAX_REASON_LENGTH = 500;

type Imported = Extract<ImportOutcome, {ok: true}>;
type Failure = Pick<Extract<ImportOutcome, {ok: false}>, "ok" | "message" | "isFinal" | "needsSnapshot">;

/** How long a node chosen after a failure is followed before the others are asked too. */
const FOLLOWED_MS = 60_000;

interface FollowingParts {
  readonly engine: Engine;
  readonly source: FollowedSource;
  /** What every attempt has in common. */
  readonly rules: Pick<ImportJob, "finalized" | "allowUnverified" | "chainId">;
  readonly status: SourceStatus;
  /** Called if the import can never succeed. */
  readonly onFinal: (reason: string) => void;
  /** Called whenever the feed does not continue the store. @returns the state of a replacing snapshot, or "" */
  readonly onBehind?: () => string;
  readonly log: Logger;
}

export class Following {
  private readonly log: Logger;
  private readonly sourceLog: SourceLog;
  private readonly unwatch: () => void;
  private readonly stopping = new AbortController();
  private running: Running<ImportOutcome> | undefined;
  private attempts = 0;
  private readonly backoff: Backoff;
  /** The newest block at the last failure. */
  private failedAt = -1;
  private startedMs = 0;
  private nextLineMs = 0;
  /** What the status contains of the running attempt. */
  private counted = {blocks: 0, busyMs: 0};

  constructor(
    private readonly parts: FollowingParts,
    private readonly engine = parts.engine,
    private readonly status = parts.status,
  ) {
    this.backoff = new Backoff(parts.source.kind === "feed" ? FEED_WAITS : RETRY_WAITS);
    this.log = parts.log.child({source: nameSource(parts.source)});
    this.sourceLog = new SourceLog(this.log, this.status);
    this.unwatch = this.engine.chain.onChange((head, before) => this.noteHead(head, before));
    void this.run();
  }

  /** Ends the import after the current block, for good. */
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
    // A rollback removes blocks.
    status.blocks += Math.max(0, blocks - this.counted.blocks);
    status.busyMs += busyMs - this.counted.busyMs;
    this.counted = {blocks, busyMs};
    // At the head of the source, a new block is no news.
    if ((head.latest ?? -1) >= (target ?? Number.POSITIVE_INFINITY) || performance.now() < this.nextLineMs)
      return;
    this.nextLineMs = performance.now() + IMPORT_LINE_EVERY_MS;
    const pace = paceOf(event, performance.now() - this.startedMs);
    this.log.info({head: headFields(head), blocks, accounts, target, ...pace}, "importing");
  }

  /** A block above those before the failure means that the import works again. */
  private noteHead({latest}: Head, before: Head): void {
    if (latest === undefined) return;
    // Between attempts only a rollback command removes blocks. Those that replace them count as new.
    if (this.running === undefined) this.failedAt = Math.min(this.failedAt, latest);
    if (latest <= (before.latest ?? -1)) return;
    this.status.receivedMs = Date.now();
    if (this.status.hasFailed && latest > this.failedAt) this.recover("reading");
  }

  private noteState(state: SourceState, reason: string | undefined): void {
    // The new attempt has only started and may still fail.
    if (this.status.hasFailed && state !== "following") return;
    if (this.status.hasFailed) this.recover(state);
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

  /** @returns the time until the next attempt; undefined if there is none */
  private fail({message, isFinal, needsSnapshot = false}: Failure): number | undefined {
    const {status, engine, parts} = this;
    const snapshot = needsSnapshot ? (parts.onBehind?.() ?? "") : "";
    const [line = ""] = (snapshot === "" ? message : `${message}. ${snapshot}`).split("\n", 1);
    const reason = line.length > MAX_REASON_LENGTH ? `${line.slice(0, MAX_REASON_LENGTH)}...` : line;
    const isKnown = status.hasFailed && isSameFailure(status.reason, reason);
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

/** For the log: a path, or nodes and servers without the parts of URLs that may contain keys. */
function nameSource(source: FollowedSource): string {
  if (source.kind === "diffs") return source.path;
  if (source.kind === "feed") return source.nats.urls.map(url => new URL(url).host).join(", ");
  return source.nodes.urls.map(url => new URL(url).origin).join(", ");
}

/** The rate of an import with a target, and its remaining time, undefined until a block came. */
function paceOf({blocks, head, target}: ImportEvent, ms: number): object | undefined {
  if (target === undefined) return undefined;
  const rate = (1000 * Math.max(0, blocks)) / Math.max(1, ms);
  const left = Math.max(0, target - (head.latest ?? 0));
  return {
    blocksPerSecond: Math.round(10 * rate) / 10,
    secondsLeft: rate === 0 ? undefined : Math.ceil(left / rate),
  };
}
