/**
 * The flags of `npm run bench`.
 */
import {type Command, Option} from "commander";
import {DEFAULT_SUITE_NAME, SUITE_NAMES} from "../../storage/hash/suiteNames.ts";
import {countOption, createProgram, FlagError, namesOption} from "../program/benchProgram.ts";
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
  "commit",
  "begin",
] as const;
/** They start a node, so they run only if they are asked for. */
export const FOLLOW_STAGE_NAMES = ["execute", "follow", "geth"] as const;

export type StageName = (typeof STAGE_NAMES)[number];
export type FollowStageName = (typeof FOLLOW_STAGE_NAMES)[number];

/** Commander's values, by flag. */
export interface StageFlags {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly time: number;
  /** Least runs of a task. */
  readonly runs: number;
  readonly only: readonly (StageName | FollowStageName)[];
  /** Names of hash suites. */
  readonly suite: readonly string[];
  /** Default: a new file under bench-data/runs/. */
  readonly json?: string;
  readonly against?: string;
  /** The file of the stage geth's node. Default: findGeth's. */
  readonly geth?: string;
}

const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;
const MAX_RUNS = 10_000;
/** One before the service starts, one that comes, one that is finalized. */
const LEAST_FOLLOWED = 3;

/** @throws FlagError if they do not fit each other */
export function checkFlags({only, blocks, geth}: StageFlags): void {
  const stage = FOLLOW_STAGE_NAMES.find(name => only.includes(name));
  if (stage !== undefined && blocks < LEAST_FOLLOWED)
    throw new FlagError(
      `--blocks: expected at least ${LEAST_FOLLOWED} blocks for the stage ${stage}, got ${blocks}`,
    );
  if (geth !== undefined && !only.includes("geth"))
    throw new FlagError(`--geth: expected the stage geth in --only, got ${only}`);
}

export function createStagesProgram(): Command {
  return createProgram(
    "npm run bench --",
    "Measures each stage of a proof, an estimate and a commit; prints a table, writes JSON.",
    [
      countOption(
        "--accounts <count>",
        "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/",
        HOLDERS,
        MAX_ACCOUNTS,
      ).default(100_000, "100k"),
      countOption(
        "--blocks <count>",
        "blocks of history after block 0; the stage follow takes 220 at most",
        1,
        MAX_BLOCKS,
      ).default(DEFAULT_BLOCKS),
      countOption("--time <ms>", "milliseconds per task", 1, MAX_TIME_MS).default(1000),
      countOption(
        "--runs <count>",
        "runs of a task at least, if they take longer than --time",
        2,
        MAX_RUNS,
      ).default(16),
      namesOption("--only <names>", "only these stages", [...STAGE_NAMES, ...FOLLOW_STAGE_NAMES]).default(
        STAGE_NAMES,
        "all but execute, follow and geth",
      ),
      namesOption("--suite <names>", "hash suites of the stores", SUITE_NAMES).default(
        [DEFAULT_SUITE_NAME],
        DEFAULT_SUITE_NAME,
      ),
      new Option(
        "--geth <file>",
        "geth of the stage geth (default: the one in PATH, else the installed one)",
      ),
      new Option("--json <file>", "where the figures go (default: a new file under bench-data/runs/)"),
      new Option("--against <file>", "compare with the figures of an earlier run"),
    ],
  );
}
