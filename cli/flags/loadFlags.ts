/** The flags of `proofd load`, and the options of the load that follow from them. */
import {readFileSync} from "node:fs";
import {availableParallelism} from "node:os";
import type {Command, Option} from "commander";
import type {ErrorLimit, KeyChoice, LoadOptions} from "../../bench/load/loadOptions.ts";
import type {BlockChoice} from "../../bench/load/requests/blockChoice.ts";
import {parseKeys} from "../../bench/load/requests/keys.ts";
import {VERSION} from "../../server/version.ts";
import {writeCommandLine} from "./commandLine.ts";
import {createOption, createSwitch, integerParser, parseText} from "./flag.ts";
import {
  MAX_TIMEOUT_MS,
  parseBlocks,
  parseErrorLimit,
  parseMilliseconds,
  parseShare,
  readUrl,
} from "./loadValues.ts";

/** Flags such as --blocks mean something else in other commands, so the variables of `load` have their own prefix. */
const PREFIX = "PROOFD_LOAD";

/** Values of the flags below, as commander names them. */
export interface LoadFlags {
  readonly url: string;
  readonly style: "chain" | "eth";
  readonly connections: number;
  readonly threads?: number;
  readonly batch: number;
  readonly rate?: number;
  readonly duration: number;
  readonly warmUp: number;
  readonly absent: number;
  readonly slots: number;
  readonly blocks: BlockChoice;
  readonly estimates: number;
  readonly keys?: string;
  readonly accounts?: number;
  readonly seed: number;
  readonly timeout: number;
  readonly verify: number;
  readonly maxErrors: ErrorLimit;
  readonly maxP99?: number;
  readonly json?: boolean;
  readonly html?: string;
}

const MAX_CONNECTIONS = 10_000;
const MAX_THREADS = 256;
const MAX_SLOTS = 65_535;
/** Most slots of one request. Each takes 70 bytes of its body. */
const MAX_REQUEST_SLOTS = 1_000_000;

export function createLoadOptions(): Option[] {
  return [
    option("--url <url>", "server to load, http or https").makeOptionMandatory(),
    option(
      "--style <style>",
      "methods to call: chain_getProof and chain_estimateGas, or eth_getProof and eth_estimateGas",
    )
      .choices(["chain", "eth"])
      .default("chain"),
    option("--connections <count>", "number of connections; each sends one request at a time")
      .argParser(integerParser(1, MAX_CONNECTIONS))
      .default(16),
    option(
      "--threads <count>",
      `number of generator threads (default: cores, here ${availableParallelism()}, at most --connections)`,
    ).argParser(integerParser(1, MAX_THREADS)),
    option("--batch <calls>", "calls per request").argParser(integerParser(1, 10_000)).default(1),
    option(
      "--rate <requests/s>",
      "open loop: send this many requests per second in all; latency counts from when each was due (default: closed loop, as fast as answers come)",
    ).argParser(integerParser(1, 1_000_000)),
    option("--duration <seconds>", "length of the measurement")
      .argParser(integerParser(1, 86_400))
      .default(10),
    option("--warm-up <seconds>", "time of load before the measurement starts")
      .argParser(integerParser(0, 3_600))
      .default(2),
    option("--absent <share>", "share of proofs that ask for an absent account, 0 to 1")
      .argParser(parseShare)
      .default(0),
    option("--slots <count>", "storage slots per proof").argParser(integerParser(0, MAX_SLOTS)).default(0),
    option(
      "--blocks <blocks>",
      "block to ask for: latest, oldest, a number, or A..B for a random one of a range",
    )
      .argParser(parseBlocks)
      .default("latest"),
    option("--estimates <share>", "share of calls that estimate the gas of a transfer, 0 to 1")
      .argParser(parseShare)
      .default(0),
    option(
      "--keys <file>",
      "file of accounts to ask for, one `0xaddress [0xslot ...]` a line (default: those of the demo chain; with --style eth, those in the newest blocks)",
    ).argParser(parseText),
    option(
      "--accounts <count>",
      "ask for the accounts of a store that `npm run bench` made with this many",
    ).argParser(integerParser(1, 100_000_000)),
    option("--seed <number>", "seed of the random choices; the same seed asks for the same keys")
      .argParser(integerParser(0, 2 ** 32 - 1))
      .default(1),
    option("--timeout <ms>", "give up a request this long after it was due")
      .argParser(integerParser(1, MAX_TIMEOUT_MS))
      .default(10_000),
    option(
      "--verify <calls>",
      "number of results to verify, picked at random over the whole time; 0 verifies none",
    )
      .argParser(integerParser(0, 100_000))
      .default(200),
    option(
      "--max-errors <limit>",
      "calls that may fail, as a number or a share such as 0.1%; more failures end with exit code 1",
    )
      .argParser(parseErrorLimit)
      .default({calls: 0}, "0"),
    option(
      "--max-p99 <ms>",
      "a p99 latency above this ends with exit code 1; latency counts from when a request was due with --rate, else from when it was sent (default: none)",
    ).argParser(parseMilliseconds),
    createSwitch("--json", "print the report as JSON", PREFIX),
    option("--html <file>", "write the report to this file, as a page that needs no network").argParser(
      parseText,
    ),
  ];
}

function option(flags: string, description: string): Option {
  return createOption(flags, description, PREFIX);
}

/** @throws CommanderError for flags that exclude each other, or a file of keys that cannot be read */
export function readLoadOptions(flags: LoadFlags, command: Command): LoadOptions {
  const {connections, batch, slots, threads} = flags;
  if (threads !== undefined && threads > connections)
    command.error(
      `error: --threads ${threads} is more than --connections ${connections}: each thread needs one`,
    );
  if (batch * slots > MAX_REQUEST_SLOTS)
    command.error(
      `error: --batch ${batch} and --slots ${slots} ask for more than ${MAX_REQUEST_SLOTS} slots per request`,
    );
  return {
    url: readUrl(flags.url, command),
    style: flags.style,
    connections,
    threads: threads ?? Math.min(availableParallelism(), connections, MAX_THREADS),
    batch,
    rate: flags.rate,
    durationSeconds: flags.duration,
    warmUpSeconds: flags.warmUp,
    absent: flags.absent,
    slots,
    blocks: flags.blocks,
    estimates: flags.estimates,
    keys: chooseKeys(flags, command),
    seed: flags.seed,
    timeoutMs: flags.timeout,
    verify: flags.verify,
    limits: {maxErrors: flags.maxErrors, maxP99Ms: flags.maxP99},
    version: VERSION,
    command: writeCommandLine(command, process.argv.slice(2)),
  };
}

function chooseKeys({keys, accounts}: LoadFlags, command: Command): KeyChoice {
  if (keys !== undefined && accounts !== undefined)
    command.error("error: --keys and --accounts cannot be used together");
  if (accounts !== undefined) return {kind: "numbered", count: accounts};
  if (keys === undefined) return {kind: "server"};
  try {
    return {kind: "file", path: keys, accounts: parseKeys(readFileSync(keys, "utf8"))};
  } catch (error) {
    return command.error(`error: --keys ${keys}: ${(error as Error).message}`);
  }
}
