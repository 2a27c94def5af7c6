/**
 * Whether this service should get requests, and how far its newest block is behind.
 *
 * The lag is the age of the newest block held, by the block's own timestamp: a source that stands still shows, and so
 * does one that is being caught up with, also after a restart. Blocks without a timestamp are as old as the time since
 * they came; what was held at the start came then.
 */

import type {Failure} from "../../workers/job/failure.ts";
import type {Head} from "../../workers/job/head.ts";
import type {BlockSummary} from "../../workers/pool/pool.ts";
import type {SourceStatus} from "./sourceStatus.ts";

/** What it looks at: the pool. */
export interface HeldBlocks {
  head(): Head;
  readBlock(block: number): BlockSummary | Failure;
}

/** What was found wrong with the store (troubleLog.ts). */
export interface FoundDamage {
  /** Of --verify. */
  readonly tableFindings: number;
}

export class Readiness {
  readonly #blocks: HeldBlocks;
  readonly #damage: FoundDamage;
  readonly #source: SourceStatus | undefined;
  readonly #maxLagSeconds: number | undefined;
  readonly #startedMs = Date.now();
  /** The newest block whose time was read. */
  #timed: {readonly block: number; readonly seconds: number | undefined} | undefined;

  /** @param maxLagSeconds - left out: readiness does not depend on the source */
  constructor(blocks: HeldBlocks, damage: FoundDamage, source?: SourceStatus, maxLagSeconds?: number) {
    this.#blocks = blocks;
    this.#damage = damage;
    this.#source = source;
    this.#maxLagSeconds = maxLagSeconds;
  }

  /** @returns why not, for people; null: ready */
  readObstacle(): string | null {
    if (this.#blocks.head().finalized === null) return "no finalized block is held";
    if (this.#damage.tableFindings > 0) return "a table of the store is damaged";
    if (this.#maxLagSeconds === undefined || this.#source === undefined) return null;
    const {state, reason} = this.#source;
    if (state === "failed") return `the import has failed: ${reason}`;
    if (state === "ended") return "the source of the import has ended";
    const lag = this.readLagSeconds();
    if (lag === null || lag <= this.#maxLagSeconds) return null;
    return `block ${this.#blocks.head().latest}, the newest, is ${Math.floor(lag)} s old: --max-lag is ${this.#maxLagSeconds} s (the source: ${state})`;
  }

  /** @returns null while no block is held */
  readLagSeconds(): number | null {
    if (this.#blocks.head().latest === null) return null;
    const ownMs = this.#source?.receivedMs ?? this.#startedMs;
    return Math.max(0, Date.now() / 1000 - (this.readHeadSeconds() ?? ownMs / 1000));
  }

  /** The newest block's own time, seconds since 1970; undefined: none is held, or its source did not say. */
  readHeadSeconds(): number | undefined {
    const block = this.#blocks.head().latest;
    if (block === null) return undefined;
    if (this.#timed?.block !== block) {
      const found = this.#blocks.readBlock(block);
      // A damaged record is found, and counted, by the calls that need it.
      if ("failure" in found) return undefined;
      this.#timed = {block, seconds: found.timestamp === undefined ? undefined : Number(found.timestamp)};
    }
    return this.#timed.seconds;
  }
}
