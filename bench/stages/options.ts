/**
 * The flags of `npm run bench`.
 */
import {type Command, Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {countOption, createProgram, namesOption} from "../program/benchProgram.ts";
import {HOLDERS} from "./benchContracts.ts";
import {DEFAULT_BLOCKS} from "./benchStore.ts";

/** Commander's values, by flag. */
export interface StageFlags {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly time: number;
  /** Names of stages. */
  readonly only: readonly string[];
  /** Names of hash suites. */
  readonly suite: readonly string[];
  /** Default: a new file under bench-data/runs/. */
  readonly json?: string;
  readonly against?: string;
}

/** The first HOLDERS accounts of block 0 hold tokens and are changed in every block, so fewer are not possible. */
const MIN_ACCOUNTS = HOLDERS;
const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;

/**
 * @param stages - the names of the stages that run by default
 * @param more - of those that run only with --only
 */
export function createStagesProgram(stages: readonly string[], more: readonly string[]): Command {
  return createProgram(
    "npm run bench --",
    "Measures each stage of a proof, an estimate and a commit; prints a table, writes JSON.",
    [
      countOption(
        "--accounts <count>",
        "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/",
        MIN_ACCOUNTS,
        MAX_ACCOUNTS,
      ).default(100_000, "100k"),
      countOption(
        "--blocks <count>",
        "blocks of history after block 0; the stage follow takes 220 at most",
        1,
        MAX_BLOCKS,
      ).default(DEFAULT_BLOCKS),
      countOption("--time <ms>", "milliseconds per task", 1, MAX_TIME_MS).default(1000),
      namesOption("--only <names>", "only these stages", [...stages, ...more]).default(
        stages,
        "all but follow",
      ),
      namesOption("--suite <names>", "hash suites of the stores", SUITE_NAMES).default(
        [DEFAULT_SUITE_NAME],
        DEFAULT_SUITE_NAME,
      ),
      new Option("--json <file>", "where the figures go (default: a new file under bench-data/runs/)"),
      new Option("--against <file>", "compare with the figures of an earlier run"),
    ],
  );
}
