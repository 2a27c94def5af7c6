/** The flags of `npm run bench`. */
import {type Command, Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {countOption, createProgram, namesOption} from "../program/benchProgram.ts";
import {DEFAULT_BLOCKS, HOLDERS} from "./storeSize.ts";

/** In the order in which they run. */
export const STAGE_NAMES = [
  "hash",
  "proof",
  "multiproof",
  "leaves",
  "changes",
  "verify",
  "estimate",
  "evm",
  "execute",
  "commit",
] as const;

export type StageName = (typeof STAGE_NAMES)[number];

/** Commander's values, by flag. */
export interface StageFlags {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly time: number;
  /** Least runs of a task. */
  readonly runs: number;
  readonly only: readonly StageName[];
  /** Names of hash suites. */
  readonly suite: readonly string[];
  /** Default: a new file under bench-data/runs/. */
  readonly json?: string;
  readonly against?: string;
}

const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;
const MAX_RUNS = 10_000;

export function createStagesProgram(): Command {
  return createProgram(
    "npm run bench --",
    "Measures each stage of a proof, an estimate, an execution and a commit; prints a table, writes JSON.",
    [
      countOption(
        "--accounts <count>",
        "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/",
        HOLDERS,
        MAX_ACCOUNTS,
      ).default(100_000, "100k"),
      countOption("--blocks <count>", "blocks of history after block 0", 1, MAX_BLOCKS).default(
        DEFAULT_BLOCKS,
      ),
      countOption("--time <ms>", "milliseconds per task", 1, MAX_TIME_MS).default(1000),
      countOption(
        "--runs <count>",
        "runs of a task at least, if they take longer than --time",
        2,
        MAX_RUNS,
      ).default(16),
      namesOption("--only <names>", "only these stages", STAGE_NAMES),
      namesOption("--suite <names>", "hash suites of the stores", SUITE_NAMES).default(
        [DEFAULT_SUITE_NAME],
        DEFAULT_SUITE_NAME,
      ),
      new Option("--json <file>", "where the figures go (default: a new file under bench-data/runs/)"),
      new Option("--against <file>", "compare with the figures of an earlier run"),
    ],
  );
}
