/** What the pruner has done and has still to do, in /metrics. */
import {Counter, Gauge, type Registry} from "prom-client";

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
  for (const [name, help, read] of [
    ["proofd_pruned_blocks_total", "Blocks pruned since the start", () => pruner.blocks],
    ["proofd_pruned_pages_total", "Pages removed by pruning since the start", () => pruner.pages],
  ] as const)
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  for (const [name, help, read] of [
    ["proofd_prune_backlog_blocks", "Blocks that are still to be pruned, at most", () => pruner.backlog],
    ["proofd_prune_failed", "1 after pruning has failed", () => (pruner.hasFailed ? 1 : 0)],
  ] as const)
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
}
