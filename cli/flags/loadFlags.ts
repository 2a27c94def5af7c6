/** The flags of `proofd load`, and the options of a load that they give. */
import {availableParallelism} from "node:os";
import type {Command} from "commander";
import type {KeyChoice, LoadOptions} from "proofd-load";
import {COMMIT, VERSION} from "../../server/version.ts";
import {readWholeFile} from "../../storage/regularFile.ts";
import {writeCommandLine} from "./commandLine.ts";
import {readDemo} from "./demoAccounts.ts";
import {onSwitch, required, secret, type ValuesOf, value} from "./flagTable.ts";
import {countParser, integerParser, parseText, redactUrls} from "./flagValues.ts";
import {parseKeys} from "./keyLines.ts";
import {
  MAX_TIMEOUT_MS,
  parseBlocks,
  parseErrorLimit,
  parseFraction,
  parseMilliseconds,
  readUrl,
} from "./loadValues.ts";
import {readHeaders, URL_HEADER_FLAGS} from "./nodeFlags.ts";

const STYLES = ["chain", "eth"] as const;
/** Fixed, so that loads with the same flags ask for the same keys. */
const SEED = 1;
const MAX_CONNECTIONS = 10_000;
const MAX_THREADS = 256;
const MAX_SLOTS = 65_535;
/** Most slots in one request. Each takes 70 bytes of its body. */
const MAX_REQUEST_SLOTS = 1_000_000;

export const LOAD_FLAGS = {
  url: secret(required(value("<url>", String).says("server to load, http or https")), redactUrls),
  ...URL_HEADER_FLAGS,
  style: value("<style>", STYLES, "chain").says(
    "methods to call: chain_getProof and chain_estimateGas, or eth_getProof and eth_estimateGas",
  ),
  connections: value("<count>", integerParser(1, MAX_CONNECTIONS), 16).says(
    "number of connections; each sends one request at a time",
  ),
  threads: value("<count>", integerParser(1, MAX_THREADS)).says(
    `number of generator threads (default: cores, here ${availableParallelism()}, at most --connections)`,
  ),
  batch: value("<calls>", integerParser(1, 10_000), 1).says("calls per request"),
  rate: value("<requests/s>", integerParser(1, 1_000_000)).says(
    "open loop: send this many requests per second in total; latency is measured from when each was due (default: closed loop, as fast as responses arrive)",
  ),
  duration: value("<seconds>", integerParser(1, 86_400), 10).says("duration of the measurement"),
  warmUp: value("<seconds>", integerParser(0, 3_600), 2).says(
    "duration of load before the measurement starts",
  ),
  absent: value("<fraction>", parseFraction, 0).says(
    "fraction of proofs that ask for an absent account, 0 to 1",
  ),
  slots: value("<count>", integerParser(0, MAX_SLOTS), 0).says("storage slots per proof"),
  blocks: value("<blocks>", parseBlocks, "latest").says(
    "block to ask for: latest, oldest, a number, or A..B for a random one of a range",
  ),
  estimates: value("<fraction>", parseFraction, 0).says(
    "fraction of calls that estimate the gas of a transfer, 0 to 1",
  ),
  keys: value("<file>", parseText).says(
    "file of accounts to ask for, one `0xaddress [0xslot ...]` per line (default: the accounts of the demo chain; for other chains with --style eth, those in the newest blocks)",
  ),
  accounts: value("<count>", countParser(1, 100_000_000)).says(
    "ask for the accounts of a store that `npm run bench` made with this many, such as 1M",
    "!keys",
  ),
  timeout: value("<ms>", integerParser(1, MAX_TIMEOUT_MS), 10_000).says(
    "timeout of a request, from when it was due",
  ),
  verify: value("<calls>", integerParser(0, 100_000), 200).says(
    "number of results to verify, sampled at random over the measurement; 0 verifies none",
  ),
  maxErrors: value("<limit>", parseErrorLimit, {calls: 0}, "0").says(
    "calls that may fail, as a number or a percentage such as 0.1%; more failures end with exit code 1",
  ),
  maxP99: value("<ms>", parseMilliseconds).says(
    "a p99 latency above this ends with exit code 1; latency is measured from when a request was due with --rate, else from when it was sent (default: no limit)",
  ),
  against: value("<file>", parseText).says("compare with the JSON report of an earlier run in this file"),
  json: onSwitch("print the report as JSON"),
  html: value("<file>", parseText).says("write the report to this file, as a self-contained HTML page"),
};

export function readLoadOptions(values: ValuesOf<typeof LOAD_FLAGS>, command: Command): LoadOptions {
  const {style, connections, batch, rate, absent, slots, blocks, estimates, verify} = values;
  const {threads, keys, accounts, maxErrors, maxP99} = values;
  if (threads !== undefined && threads > connections)
    command.error(`error: --threads: expected at most --connections (${connections}), got ${threads}`);
  if (batch * slots > MAX_REQUEST_SLOTS)
    command.error(
      `error: --batch times --slots: expected at most ${MAX_REQUEST_SLOTS} slots per request, got ${batch * slots}`,
    );
  return {
    ...{style, connections, batch, rate, absent, slots, blocks, estimates, verify},
    url: readUrl(values.url, command),
    headers: readHeaders(values, "header", command),
    threads: threads ?? Math.min(availableParallelism(), connections, MAX_THREADS),
    durationSeconds: values.duration,
    warmUpSeconds: values.warmUp,
    keys: chooseKeys(keys, accounts, command),
    seed: SEED,
    timeoutMs: values.timeout,
    limits: {maxErrors, maxP99Ms: maxP99},
    version: VERSION,
    commit: COMMIT,
    command: writeCommandLine(command, LOAD_FLAGS, process.argv.slice(2)),
  };
}

function chooseKeys(keys: string | undefined, accounts: number | undefined, command: Command): KeyChoice {
  if (accounts !== undefined) return {kind: "numbered", count: accounts};
  if (keys === undefined)
    return {kind: "server", known: {kind: "list", name: "the demo chain", ...readDemo()}};
  try {
    return {kind: "list", name: keys, accounts: parseKeys(readWholeFile(keys).toString())};
  } catch (error) {
    return command.error(`error: --keys ${keys}: ${(error as Error).message}`);
  }
}
