/**
 * The arguments of `npm run bench`.
 */
import {parseArgs} from "node:util";
import {HOLDERS} from "./benchContracts.ts";
import {DEFAULT_BLOCKS} from "./benchStore.ts";

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

/** The message names the flag, the value and what is expected. */
export class OptionError extends Error {}

/** Accounts of block 0 hold tokens and are changed in every block: fewer would not do. */
const MIN_ACCOUNTS = HOLDERS;
const MAX_ACCOUNTS = 10_000_000;
const MAX_BLOCKS = 100_000;
const MAX_TIME_MS = 600_000;

export function helpText(names: readonly string[]): string {
  return `npm run bench -- [flags]

  --accounts N     accounts in block 0: 100k (default), 1M, 10M, or any number; the store is kept under bench-data/
  --blocks N       blocks of history after block 0 (default ${DEFAULT_BLOCKS})
  --time MS        per task (default 1000)
  --only A,B       only these stages or hash suites: ${names.join(", ")}
  --json FILE      where the figures go (default: a new file under bench-data/runs/)
  --against FILE   compares with the figures of an earlier run
  --help
`;
}

/**
 * @param names - of all stages and hash suites
 * @returns "help" if that is asked for
 * @throws OptionError
 */
export function parseOptions(args: readonly string[], names: readonly string[]): BenchOptions | "help" {
  const values = parseFlags(args);
  if (values.help === true) return "help";
  return {
    accounts: parseCount("accounts", values.accounts, MIN_ACCOUNTS, MAX_ACCOUNTS, ", such as 100k or 1M"),
    blocks: parseCount("blocks", values.blocks, 1, MAX_BLOCKS),
    timeMs: parseCount("time", values.time, 1, MAX_TIME_MS),
    only: parseNames("only", values.only, names),
    jsonPath: values.json,
    againstPath: values.against,
  };
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        accounts: {type: "string", default: "100k"},
        blocks: {type: "string", default: `${DEFAULT_BLOCKS}`},
        time: {type: "string", default: "1000"},
        only: {type: "string"},
        json: {type: "string"},
        against: {type: "string"},
        help: {type: "boolean"},
      },
    }).values;
  } catch (error) {
    throw new OptionError((error as Error).message);
  }
}

/** `k` and `M` stand for thousands and millions. */
function parseCount(flag: string, text: string, least: number, most: number, example = ""): number {
  const [, digits, unit] = /^([0-9]{1,9})([kM]?)$/.exec(text) ?? [];
  const count = Number(digits) * (unit === "k" ? 1e3 : unit === "M" ? 1e6 : 1);
  if (count >= least && count <= most) return count;
  throw new OptionError(`--${flag} is '${text}': expected a whole number from ${least} to ${most}${example}`);
}

function parseNames(flag: string, text: string | undefined, names: readonly string[]): string[] | undefined {
  const parts = text?.split(",");
  for (const part of parts ?? [])
    if (!names.includes(part))
      throw new OptionError(
        `--${flag} is '${text}': '${part}' is not one of ${names.join(", ")} (several: with commas)`,
      );
  return parts;
}
