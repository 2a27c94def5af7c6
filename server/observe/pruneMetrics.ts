/** What the pruner has done and has still to do, in /metrics. */
import type {Registry} from "prom-client";
import {registerGauge, registerTotal} from "./scrapedFigure.ts";

/** Where the figures are read. */
export interface PruneFigures {
  /** Since the start. */
  readonly blocks: number;
  readonly pages: number;
  readonly backlog: number;
  readonly hasFailed: boolean;
}

/** @param pruner - undefined: nothing is pruned, and nothing shown */
export function registerPruning(registers: Registry[], pruner: PruneFigures | undefined): void {
  if (pruner === undefined) return;
  registerTotal(
    registers,
    "proofd_pruned_blocks_total",
    "Blocks pruned since the start",
    () => pruner.blocks,
  );
  registerTotal(
    registers,
    "proofd_pruned_pages_total",
    "Pages removed by pruning since the start",
    () => pruner.pages,
  );
  registerGauge(
    registers,
    "proofd_prune_backlog_blocks",
    "Blocks that are still to be pruned, at most",
    () => pruner.backlog,
  );
  registerGauge(registers, "proofd_prune_failed", "1 after pruning has failed", () =>
    pruner.hasFailed ? 1 : 0,
  );
}
