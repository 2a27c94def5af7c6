/**
 * The figures of one run, as `--json` writes them and `--against` reads them.
 */
import {readFileSync} from "node:fs";
import type {Machine} from "../load/report/machine.ts";
import {FlagError} from "../program/benchProgram.ts";
import type {StoreFigures} from "./benchStore.ts";

/** Raised whenever older files can no longer be compared with. */
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

/** One task. Microseconds per unit. */
export interface Result {
  readonly suite: string;
  readonly stage: string;
  readonly name: string;
  /** Per sample: a sample's mean over its units is what median and p99 are of. */
  readonly units: number;
  readonly samples: number;
  readonly medianUs: number;
  readonly p99Us: number;
  /** Of the mean, 95% confidence, +-percent. */
  readonly errorPercent: number;
  readonly perSecond: number;
  /** Median of a SHA-256 of 64 bytes hashed between the samples. */
  readonly yardstickUs: number;
  /** medianUs / yardstickUs: what travels between machines, and between moments of a shared one. */
  readonly yardsticks: number;
}

/** What is no time per unit: bytes, ratios. */
export interface Figure {
  readonly suite: string;
  readonly stage: string;
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** @throws FlagError if there is no such file, or it is no run's file */
export function readRun(path: string): BenchRun {
  let run: Partial<BenchRun> | null;
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
