/**
 * Whether this service should get requests, and how far its newest block is behind.
 *
 * The lag is the age of the newest block held, by the block's own timestamp. So it shows a source that stands still, and
 * also an import that is still catching up, even after a restart. The age of a block without timestamp is the time since
 * it was imported, or since the start if the store already held it.
 */

import type {ChainView} from "../../workers/pool/chainView.ts";
import type {SourceStatus} from "./sourceStatus.ts";

/** Damage found in the store (troubleLog.ts). */
export interface FoundDamage {
  /** Number of findings of --verify. */
  readonly tableFindings: number;
}

export class Readiness {
  private readonly chain: ChainView;
  private readonly damage: FoundDamage;
  private readonly source: SourceStatus | undefined;
  private readonly maxLagSeconds: number | undefined;
  private readonly startedMs = Date.now();
  /** Whether `headSeconds` was read since the head changed. */
  private isHeadRead = false;
  /** The newest block's timestamp. undefined if it has none. */
  private headSeconds: number | undefined;

  /** @param maxLagSeconds - without it, readiness depends on the source only if that is a node whose import has failed */
  constructor(chain: ChainView, damage: FoundDamage, source?: SourceStatus, maxLagSeconds?: number) {
    this.chain = chain;
    this.damage = damage;
    this.source = source;
    this.maxLagSeconds = maxLagSeconds;
    chain.onChange(() => {
      this.isHeadRead = false;
    });
  }

  /** @returns why the service is not ready, as text for people, or undefined if it is ready */
  readObstacle(): string | undefined {
    if (this.chain.head().finalized === undefined) return "no finalized block is held";
    if (this.damage.tableFindings > 0) return "a table of the store is damaged";
    if (this.source === undefined) return undefined;
    const {state, reason, flag} = this.source;
    // A store that is to follow a chain, and cannot, falls behind.
    if (state === "failed" && (flag === "l2" || this.maxLagSeconds !== undefined))
      return `the import has failed: ${reason}`;
    if (this.maxLagSeconds === undefined) return undefined;
    if (state === "ended") return "the source of the import has ended";
    const lag = this.readLagSeconds();
    if (lag === undefined || lag <= this.maxLagSeconds) return undefined;
    return `the newest block, ${this.chain.head().latest}, is ${Math.floor(lag)} s old: --max-lag is ${this.maxLagSeconds} s (state of the source: ${state}${reason === "" ? "" : `, ${reason}`})`;
  }

  /** @returns undefined while no block is held */
  readLagSeconds(): number | undefined {
    if (this.chain.head().latest === undefined) return undefined;
    const ownMs = this.source?.receivedMs ?? this.startedMs;
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
}
