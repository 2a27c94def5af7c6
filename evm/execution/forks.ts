/**
 * The supported hard forks, and the fields of geth's genesis config that set them: by block number up to grayGlacier, by
 * timestamp from shanghai on.
 */
import {invalidGenesis, type JsonObject, parseQuantity} from "./gethJson.ts";

interface Fork {
  readonly name: string;
  readonly field: string;
  /** A chain may leave it out and still have later ones. */
  readonly optional?: boolean;
}

const NUMBER_FORKS: readonly Fork[] = [
  {name: "homestead", field: "homesteadBlock"},
  {name: "dao", field: "daoForkBlock", optional: true},
  {name: "tangerineWhistle", field: "eip150Block"},
  {name: "spuriousDragon", field: "eip158Block"},
  {name: "byzantium", field: "byzantiumBlock"},
  {name: "constantinople", field: "constantinopleBlock"},
  {name: "petersburg", field: "petersburgBlock"},
  {name: "istanbul", field: "istanbulBlock"},
  {name: "muirGlacier", field: "muirGlacierBlock", optional: true},
  {name: "berlin", field: "berlinBlock"},
  {name: "london", field: "londonBlock"},
  {name: "arrowGlacier", field: "arrowGlacierBlock", optional: true},
  {name: "grayGlacier", field: "grayGlacierBlock", optional: true},
];

const TIME_FORKS: readonly Fork[] = [
  {name: "shanghai", field: "shanghaiTime"},
  {name: "cancun", field: "cancunTime"},
  {name: "prague", field: "pragueTime"},
  {name: "osaka", field: "osakaTime"},
  {name: "bpo1", field: "bpo1Time", optional: true},
  {name: "bpo2", field: "bpo2Time", optional: true},
  {name: "bpo3", field: "bpo3Time", optional: true},
  {name: "bpo4", field: "bpo4Time", optional: true},
  {name: "bpo5", field: "bpo5Time", optional: true},
];

/** Config fields whose names look like forks, but which change nothing that a block's execution sees. */
const NO_FORK = new Set(["mergeNetsplitBlock", "mergeForkBlock", "eip155Block"]);

export const CHAIN_START = "chainstart";
export const PARIS = "paris";

export interface ScheduledFork {
  readonly name: string;
  /** Block number or timestamp. */
  readonly from: bigint;
}

const IN_ORDER: readonly string[] = [
  CHAIN_START,
  ...NUMBER_FORKS.map(({name}) => name),
  PARIS,
  ...TIME_FORKS.map(({name}) => name),
];

/** True if `fork` is `since` or came after it. */
export function hasReached(fork: string, since: string): boolean {
  return IN_ORDER.indexOf(fork) >= IN_ORDER.indexOf(since);
}

/** A genesis config under which every block of a chain falls under `fork`, one of HARDFORKS. */
export function configOfFork(fork: string): JsonObject {
  const config: Record<string, unknown> = {};
  for (const {name, field, optional} of [
    ...NUMBER_FORKS,
    {name: PARIS, field: "mergeForkBlock"},
    ...TIME_FORKS,
  ]) {
    if (optional !== true) config[field] = 0;
    if (name === fork) break;
  }
  // normalize() requires eip155 to be set like eip158.
  return config.eip158Block === undefined ? config : {...config, eip155Block: 0};
}

/** @throws ExecutionError GENESIS_INVALID for a fork that is not supported */
export function checkForkFields(config: JsonObject): void {
  for (const [field, value] of Object.entries(config)) {
    const known = [...NUMBER_FORKS, ...TIME_FORKS].some(fork => fork.field === field) || NO_FORK.has(field);
    if (/(Block|Time)$/.test(field) && !known && value !== null)
      throw invalidGenesis(
        `config.${field}`,
        "is a hard fork that is not supported (osaka and the bpo forks are the newest)",
      );
  }
}

/** The forks that are set by block number, in order. @throws ExecutionError GENESIS_INVALID naming the field */
export function readNumberForks(config: JsonObject): ScheduledFork[] {
  return readForks(normalize(config), NUMBER_FORKS);
}

export function readTimeForks(config: JsonObject): ScheduledFork[] {
  return readForks(config, TIME_FORKS);
}

/** As geth reads a config: eip155 equals eip158, petersburg defaults to constantinople, a chain may oppose the DAO fork. */
function normalize(config: JsonObject): JsonObject {
  if ((config.eip155Block ?? null) !== (config.eip158Block ?? null))
    throw invalidGenesis("config.eip155Block", "must equal eip158Block");
  return {
    ...config,
    petersburgBlock: config.petersburgBlock ?? config.constantinopleBlock,
    daoForkBlock: config.daoForkSupport === true ? config.daoForkBlock : undefined,
  };
}

function readForks(config: JsonObject, forks: readonly Fork[]): ScheduledFork[] {
  const scheduled: ScheduledFork[] = [];
  let missing: Fork | undefined;
  for (const fork of forks) {
    const value = config[fork.field];
    if (value === undefined || value === null) {
      if (fork.optional !== true) missing ??= fork;
      continue;
    }
    if (missing !== undefined)
      throw invalidGenesis(
        `config.${fork.field}`,
        `is set, but ${missing.field}, which comes before, is not`,
      );
    const from = parseQuantity(value, `config.${fork.field}`, 53);
    const before = scheduled.at(-1);
    if (before !== undefined && before.from > from)
      throw invalidGenesis(`config.${fork.field}`, `is ${from}, before ${before.name} at ${before.from}`);
    scheduled.push({name: fork.name, from});
  }
  return scheduled;
}
