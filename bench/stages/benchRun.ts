/** The figures of a run, which `--json` writes and `--against` reads. */
import type {Origin} from "../program/runFile.ts";
import type {StageFigure} from "./stage.ts";

/** Incremented when runs are not comparable with older files. */
export const RUN_FORMAT = 2;

export interface BenchRun {
  readonly format: typeof RUN_FORMAT;
  readonly machine: Origin;
  readonly accounts: number;
  readonly blocks: number;
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
}

interface Origins {
  readonly suite: string;
  readonly stage: string;
}

/** The result of one task. Times are in microseconds per unit. */
export interface Result extends Origins {
  readonly name: string;
  /** Median and p99 of samples, each of which is a mean over its units. */
  readonly medianUs: number;
  readonly p99Us: number;
  /** Half of the 95 % confidence interval of the mean, in percent. */
  readonly errorPercent: number;
  readonly perSecond: number;
  /** medianUs divided by the median time of a SHA-256 of 64 bytes between the samples (yardstick.ts). */
  readonly yardsticks: number;
}

export type Figure = StageFigure & Origins;

/** @throws Error if `text` is not a run on a store of the same size */
export function parseRun(
  text: string,
  {accounts, blocks}: {readonly accounts: number; readonly blocks: number},
): BenchRun {
  const expected = `expected the JSON of an earlier run with --accounts ${accounts} --blocks ${blocks}`;
  let run: Partial<BenchRun> | undefined;
  try {
    run = JSON.parse(text);
  } catch {
    throw new Error(`${expected}, got other text`);
  }
  if (run?.format !== RUN_FORMAT)
    throw new Error(`${expected} and format ${RUN_FORMAT}, got format ${run?.format}`);
  if (run.accounts !== accounts || run.blocks !== blocks)
    throw new Error(`${expected}, got ${run.accounts} accounts and ${run.blocks} blocks`);
  return run as BenchRun;
}
