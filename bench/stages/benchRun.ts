/**
 * The figures of one run. `--json` writes them and `--against` reads them.
 */
import {readFileSync} from "node:fs";
import type {Machine} from "../load/report/machine.ts";
import {FlagError} from "../program/benchProgram.ts";
import type {StoreFigures} from "./benchStore.ts";

/** Raised whenever a run can no longer be compared with older files. */
export const RUN_FORMAT = 1;

export interface BenchRun {
  readonly format: typeof RUN_FORMAT;
  readonly machine: Machine;
  readonly accounts: number;
  readonly blocks: number;
  readonly timeMs: number;
  /** By hash suite. */
  readonly stores: Readonly<Record<string, StoreFigures>>;
  readonly results: readonly Result[];
  readonly figures: readonly Figure[];
}

/** The result of one task. Times are in microseconds per unit. */
export interface Result {
  readonly suite: string;
  readonly stage: string;
  readonly name: string;
  /** Units in a sample. Median and p99 are those of the samples' means over their units. */
  readonly units: number;
  readonly samples: number;
  readonly medianUs: number;
  readonly p99Us: number;
  /** Error of the mean in percent, +-, with 95% confidence. */
  readonly errorPercent: number;
  readonly perSecond: number;
  /** Median time of a SHA-256 of 64 bytes, hashed between the samples. */
  readonly yardstickUs: number;
  /** medianUs / yardstickUs. It can be compared between machines, and between moments of a shared machine. */
  readonly yardsticks: number;
}

/** A figure that is not a time per unit: bytes, ratios. */
export interface Figure {
  readonly suite: string;
  readonly stage: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** @throws FlagError if there is no such file, or it is not the file of a run */
export function readRun(path: string): BenchRun {
  let run: Partial<BenchRun> | undefined;
  try {
    run = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new FlagError(
      `--against is '${path}': expected the JSON of an earlier run (${(error as Error).message})`,
    );
  }
  if (run?.format !== RUN_FORMAT)
    throw new FlagError(
      `--against is '${path}': expected the JSON of an earlier run, format ${RUN_FORMAT}, not ${run?.format}`,
    );
  return run as BenchRun;
}
