/**
 * The arguments of `npm run bench`.
 */
import {HOLDERS} from "./benchContracts.ts";
import {DEFAULT_BLOCKS} from "./benchStore.ts";
import {type FlagTable, type FlagTexts, parseCount, parseNames} from "./flags.ts";

export interface BenchOptions {
  readonly accounts: number;
  readonly blocks: number;
  /** Milliseconds per task. */
  readonly timeMs: number;
  /** Names of stages and hash suites; undefined = all. */
  readonly only: readonly string[] | undefined;
  /** undefined = a file of its own under bench-data/runs/. */
  readonly jsonPath: string | undefined;
  readonly againstPath: string | undefined;
}

/** Accounts of block 0 hold tokens and are changed in every block: fewer would not do. */
const MIN_ACCOUNTS = HOLDERS;
const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;

/** @param names - of all stages and hash suites */
export function createFlags(names: readonly string[]) {
  return {
    accounts: {
      value: "N",
      default: "100k",
      about: "accounts in block 0, such as 100k, 1M or 10M; the store is kept under bench-data/",
    },
    blocks: {value: "N", default: String(DEFAULT_BLOCKS), about: "blocks of history after block 0"},
    time: {value: "MS", default: "1000", about: "milliseconds per task"},
    only: {value: "A,B", about: `only these stages or hash suites: ${names.join(", ")} (default: all)`},
    json: {value: "FILE", about: "where the figures go (default: a new file under bench-data/runs/)"},
    against: {value: "FILE", about: "compare with the figures of an earlier run"},
  } as const satisfies FlagTable;
}

/**
 * @param names - of all stages and hash suites
 * @throws FlagError
 */
export function readOptions(
  texts: FlagTexts<ReturnType<typeof createFlags>>,
  names: readonly string[],
): BenchOptions {
  return {
    accounts: parseCount("accounts", texts.accounts, MIN_ACCOUNTS, MAX_ACCOUNTS, ", such as 100k or 1M"),
    blocks: parseCount("blocks", texts.blocks, 1, MAX_BLOCKS),
    timeMs: parseCount("time", texts.time, 1, MAX_TIME_MS),
    only: parseNames("only", texts.only, names),
    jsonPath: texts.json,
    againstPath: texts.against,
  };
}
