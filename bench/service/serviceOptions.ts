/** The flags of `npm run bench:service`. */
import type {Command} from "commander";
import {countOption, createProgram, namesOption} from "../program/benchProgram.ts";

export const PART_NAMES = ["memory", "clients", "loops", "reader", "idle", "import", "wait"] as const;

export type PartName = (typeof PART_NAMES)[number];

/** Commander's values, by flag. */
export interface ServiceFlags {
  readonly accounts: number;
  /** Seconds. */
  readonly duration: number;
  /** Requests per second. */
  readonly rate: number;
  readonly only: readonly PartName[];
}

export function createServiceProgram(): Command {
  return createProgram(
    "npm run bench:service --",
    "Measures memory, and what one client's load does to the others; prints a table, writes JSON.",
    [
      countOption(
        "--accounts <count>",
        "accounts of the bench store, such as 100k or 1M",
        1000,
        10_000_000,
      ).default(1_000_000, "1M"),
      countOption("--duration <seconds>", "measured time of each load", 1, 600).default(5),
      countOption(
        "--rate <requests/s>",
        "pace of the single proofs whose latency is watched",
        1,
        100_000,
      ).default(300),
      namesOption("--only <names>", "only these parts", PART_NAMES),
    ],
  );
}
