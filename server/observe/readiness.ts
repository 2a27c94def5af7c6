/**
 * Whether this service should get requests, and how far its newest block is behind.
 *
 * The lag is the age of the newest block by its timestamp. So it shows a source that stands still, and an import that
 * is catching up, even after a restart. A block without timestamp is as old as its import, or as this process.
 */

import type {ChainView} from "../../workers/chain/chainView.ts";
import type {WatchedThread} from "../../workers/messages/watchedThread.ts";
import type {FinalityStatus} from "./finalityStatus.ts";
import type {PublishStatus} from "./publishStatus.ts";
import type {SourceStatus} from "./sourceStatus.ts";
import {withCause} from "./withCause.ts";

/** What a balancer asks for besides readiness. */
export interface AskedReadiness {
  readonly block: number | undefined;
  /** Highest age of the newest block, in seconds. Without it, a failed or ended import of --diffs is no obstacle. */
  readonly lagSeconds: number | undefined;
}

const IMPORT_FAILED = "the import has failed";

/** The newest ones, that a remark names. */
const MOST_GAPS = 5;

const NOTHING_MORE: AskedReadiness = {block: undefined, lagSeconds: undefined};

/** What a service does besides answering requests, where it does. */
export interface Statuses {
  readonly source?: SourceStatus | undefined;
  /** undefined: only imports and commands set what is finalized. */
  readonly finality?: FinalityStatus | undefined;
  readonly publishing?: PublishStatus | undefined;
}

export interface ReadinessSources extends Statuses {
  readonly chain: ChainView;
  readonly damage: {readonly tableFindings: number};
  readonly threads: () => readonly WatchedThread[];
  readonly maxFinalityLagSeconds: number | undefined;
}

export class Readiness {
  private readonly startedMs = Date.now();
  /** When the newest finalized block was first seen here. */
  private finalizedMs = this.startedMs;
  private isHeadRead = false;
  /** The newest block's timestamp. undefined if it has none. */
  private headSeconds: number | undefined;

  constructor(
    private readonly sources: ReadinessSources,
    private readonly chain = sources.chain,
  ) {
    chain.onChange((head, before) => {
      this.isHeadRead = false;
      if (head.finalized !== before.finalized) this.finalizedMs = Date.now();
    });
  }

  /** @param isPublic - leaves out causes, which may name hosts and files. @returns why the service is not ready */
  readObstacles(asked = NOTHING_MORE, isPublic = false): string[] {
    const reasons = [
      this.chain.head().finalized === undefined ? "the store has no finalized block" : undefined,
      this.sources.damage.tableFindings > 0 ? "a table of the store is damaged" : undefined,
      ...this.describeThreads(isPublic),
      this.describeSource(asked.lagSeconds !== undefined, isPublic),
      this.describeLag(asked.lagSeconds, isPublic),
      this.describeFinalityLag(),
      this.describeAskedBlock(asked.block),
    ];
    return reasons.filter(reason => reason !== undefined);
  }

  /** @param isPublic - as for `readObstacles`. @returns what an operator should know even if the service is ready */
  readRemarks(isPublic = false): string[] {
    const nodes = new Map([...(this.sources.finality?.nodes ?? []), ...(this.sources.source?.nodes ?? [])]);
    return [
      ...[...nodes].map(([name, {state, reason}]) =>
        isPublic ? `a node is ${state}` : `the node ${name} is ${state}: ${reason}`,
      ),
      ...(this.sources.finality?.describe(isPublic) ?? []),
      ...(this.sources.publishing?.describe(isPublic) ?? []),
      ...this.describeFailedFile(isPublic),
      ...this.describeUnverified(),
      ...this.describeGaps(),
    ];
  }

  /** @returns undefined while no block is stored */
  readLagSeconds(): number | undefined {
    if (this.chain.head().latest === undefined) return undefined;
    const ownMs = this.sources.source?.receivedMs ?? this.startedMs;
    return Math.max(0, Date.now() / 1000 - (this.readHeadSeconds() ?? ownMs / 1000));
  }

  /** The newest block's timestamp in seconds since 1970. undefined if there is no block, or it has no timestamp. */
  readHeadSeconds(): number | undefined {
    const block = this.chain.head().latest;
    if (block === undefined) return undefined;
    if (!this.isHeadRead) {
      const found = this.chain.readBlock(block);
      // The calls that need a damaged record report and count it.
      if ("failure" in found) return undefined;
      this.headSeconds = found.timestamp === undefined ? undefined : Number(found.timestamp);
      this.isHeadRead = true;
    }
    return this.headSeconds;
  }

  private describeUnverified(): string[] {
    const range = this.chain.unverified();
    if (range === undefined) return [];
    const [from, to] = range;
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`;
    return [`unverified: ${blocks}, no header or finalization commits to their state`];
  }

  private describeGaps(): string[] {
    const {gaps} = this.chain;
    if (gaps.length === 0) return [];
    const named = gaps.slice(-MOST_GAPS).map(({from, to}) => `${from} to ${to}`);
    const more = gaps.length > named.length ? `, and ${gaps.length - named.length} older gaps` : "";
    return [`gaps of the slices: the states of blocks ${named.join(", ")}${more} were not recorded`];
  }

  private describeFinalityLag(): string | undefined {
    const {finalized} = this.chain.head();
    if (this.sources.maxFinalityLagSeconds === undefined || finalized === undefined) return undefined;
    const block = this.chain.readHeader(finalized);
    const timestamp = "failure" in block ? undefined : block.timestamp;
    const seconds = timestamp === undefined ? this.finalizedMs / 1000 : Number(timestamp);
    const lag = Math.floor(Date.now() / 1000 - seconds);
    if (lag <= this.sources.maxFinalityLagSeconds) return undefined;
    return `the newest finalized block, ${finalized}, is ${lag} s old: --max-finality-lag is ${this.sources.maxFinalityLagSeconds} s`;
  }

  private describeAskedBlock(block: number | undefined): string | undefined {
    if (block === undefined) return undefined;
    const {earliest = 0, finalized = -1} = this.chain.head();
    if (block >= earliest && block <= finalized && !this.chain.pruned.has(block)) return undefined;
    return `block ${block} cannot be proved here: the newest finalized block is ${finalized}, the earliest block ${earliest}`;
  }

  /** Work that no thread does. Each kind is tried again; whether others of a kind are up is in /metrics. */
  private describeThreads(isPublic: boolean): string[] {
    const threads = this.sources.threads();
    const down = threads.filter(({state}) => state === "down");
    return [...new Set(down.map(({kind}) => kind))].flatMap(kind => {
      const one = down.find(thread => thread.kind === kind);
      const isDone = threads.some(thread => thread.kind === kind && thread.state !== "down");
      return isDone ? [] : [withCause(`no ${kind} thread is up`, one?.reason, isPublic)];
    });
  }

  private describeSource(isLagBounded: boolean, isPublic: boolean): string | undefined {
    if (this.sources.source === undefined) return undefined;
    const {state, reason, flag} = this.sources.source;
    if (state === "behind") return withCause("behind the feed", reason, isPublic);
    // A store that is to follow a chain, and cannot, falls behind. Without a finalized block, the failure may be why there is none.
    const matters = flag !== "diffs" || isLagBounded || this.chain.head().finalized === undefined;
    if (state === "failed" && matters) return withCause(IMPORT_FAILED, reason, isPublic);
    return state === "ended" && isLagBounded ? "the source of the import has ended" : undefined;
  }

  /** An import of --diffs that has failed is not tried again. The service is ready with the blocks that it has. */
  private describeFailedFile(isPublic: boolean): string[] {
    const {source} = this.sources;
    if (source?.flag !== "diffs" || source.state !== "failed") return [];
    return [withCause(`${IMPORT_FAILED}, and is not tried again`, source.reason, isPublic)];
  }

  private describeLag(lagSeconds: number | undefined, isPublic: boolean): string | undefined {
    const lag = lagSeconds === undefined ? undefined : this.readLagSeconds();
    if (lagSeconds === undefined || lag === undefined || lag <= lagSeconds) return undefined;
    const {source} = this.sources;
    const why =
      source === undefined || source.hasFailed || source.reason === "" || isPublic
        ? ""
        : `, ${source.reason}`;
    const state = source === undefined ? "" : ` (state of the source: ${source.state}${why})`;
    return `the newest block, ${this.chain.head().latest}, is ${Math.floor(lag)} s old: asked for at most ${lagSeconds} s${state}`;
  }
}
