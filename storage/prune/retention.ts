/**
 * Which finalized blocks are kept. Blocks above the newest finalized one are always kept, and so is that block.
 *
 *   all            every block
 *   newest N       the newest N finalized blocks
 *   finalizations  the blocks that ended a finalization on layer 1: contracts there know their state roots
 *
 * Finality may be ahead of layer 1: an operator or a source of blocks may say that blocks are final. Layer 1 may
 * finalize any of them later. So `finalizations` keeps all blocks above the last finalization that is recorded.
 */
import type {PrunedView} from "./prunedBlocks.ts";
import type {PruneRun} from "./pruneRecord.ts";

export type History =
  | {readonly kind: "all"}
  /** blocks >= 1. */
  | {readonly kind: "newest"; readonly blocks: number}
  | {readonly kind: "finalizations"};

/** The blocks that ended a finalization on layer 1, as far as they are recorded. Recorded ones are finalized. */
export interface RecordedEnds {
  /** @returns the lowest one at or above `from` */
  from(block: number): number | undefined;
  last(): number | undefined;
}

/** Bounds the memory of unreachedPages.ts: some MB with 50 000 pages a block. */
export const MAX_RUN_BLOCKS = 4096;

export interface Retention {
  /** The lowest blocks that are not kept any more, at most MAX_RUN_BLOCKS. @returns undefined: there are none */
  nextRun(pruned: PrunedView, finalized: number): PruneRun | undefined;
  /** How many blocks, from the lowest one on, are still to be pruned or to be checked whether they are kept. */
  backlog(pruned: PrunedView, finalized: number): number;
}

export function createRetention(history: History, ends: RecordedEnds): Retention {
  switch (history.kind) {
    case "all":
      return {nextRun: () => undefined, backlog: () => 0};
    case "newest":
      return new NewestBlocks(history.blocks);
    case "finalizations":
      return new FinalizationEnds(ends);
  }
}

/** @param next - if its state is not stored, that of the next block whose state is counts, or else of the one before */
function runUpTo(next: number, first: number, pruned: PrunedView, finalized: number): PruneRun | undefined {
  const above = pruned.unprunedFrom(next);
  // A gap of a slice, of which a part is finalized.
  const kept = above <= finalized ? above : (pruned.nearest(next).below ?? first);
  return kept > first ? {first, next: kept} : undefined;
}

class NewestBlocks implements Retention {
  constructor(private readonly blocks: number) {}

  nextRun(pruned: PrunedView, finalized: number): PruneRun | undefined {
    const first = pruned.unprunedFrom(0);
    const oldestKept = finalized - this.blocks + 1;
    if (first >= oldestKept) return undefined;
    return runUpTo(Math.min(oldestKept, first + MAX_RUN_BLOCKS), first, pruned, finalized);
  }

  backlog(pruned: PrunedView, finalized: number): number {
    // In a gap of a slice, blocks wait until one above it is final.
    if (this.nextRun(pruned, finalized) === undefined) return 0;
    return Math.max(0, finalized - this.blocks + 1 - pruned.unprunedFrom(0));
  }
}

class FinalizationEnds implements Retention {
  /** All unpruned blocks below this one ended a finalization, and are kept for good. */
  private keptBelow = 0;

  constructor(private readonly ends: RecordedEnds) {}

  nextRun(pruned: PrunedView, finalized: number): PruneRun | undefined {
    for (;;) {
      const first = pruned.unprunedFrom(this.keptBelow);
      const kept = this.ends.from(first);
      // `finalized` was read earlier. This finalization was recorded since.
      if (kept === undefined || kept > finalized) return undefined;
      if (kept > first) return runUpTo(Math.min(kept, first + MAX_RUN_BLOCKS), first, pruned, finalized);
      this.keptBelow = first + 1;
    }
  }

  backlog(pruned: PrunedView, finalized: number): number {
    if (this.nextRun(pruned, finalized) === undefined) return 0;
    return Math.max(0, (this.ends.last() ?? 0) - pruned.unprunedFrom(this.keptBelow));
  }
}
