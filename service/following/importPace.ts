/** How fast an import gets nearer to its source's head, and how long it will still take. */
import type {ImportEvent} from "../../workers/job/importJob.ts";

export interface Pace {
  readonly blocksPerSecond: number;
  /** undefined while nothing has come. */
  readonly secondsLeft: number | undefined;
}

export class ImportPace {
  private readonly startedMs = performance.now();

  read({blocks, head, target}: Pick<ImportEvent, "blocks" | "head" | "target">): Pace {
    const rate = (1000 * Math.max(0, blocks)) / Math.max(1, performance.now() - this.startedMs);
    const left = target === undefined || head.latest === undefined ? undefined : target - head.latest;
    return {
      blocksPerSecond: Math.round(10 * rate) / 10,
      secondsLeft: left === undefined || rate === 0 ? undefined : Math.ceil(Math.max(0, left) / rate),
    };
  }
}
