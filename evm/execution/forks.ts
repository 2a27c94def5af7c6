/** The supported hard forks, and the fields of geth's genesis config that schedule them by number or by timestamp. */
import {invalidGenesis, type JsonObject, listNames, parseQuantity, readMembers} from "./gethJson.ts";

interface Fork {
  readonly name: string;
  readonly field: string;
  /** A chain may skip this fork and still have later ones. */
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
  ...["shanghai", "cancun", "prague", "osaka"].map(name => ({name, field: `${name}Time`})),
  ...["bpo1", "bpo2", "bpo3", "bpo4", "bpo5"].map(name => ({name, field: `${name}Time`, optional: true})),
];

/** Fields that look like forks but do not affect execution. The merge is recognized by difficulty 0. */
const NO_FORK = [
  "mergeNetsplitBlock",
  "mergeForkBlock",
  "preMergeForkBlock",
  "parisBlock",
  "eip150Hash",
  "eip155Block",
  "frontierBlock",
  "daoForkSupport",
];
/** Other fields of the config that are read. */
const OTHER_NAMES = [
  ...["chainId", "clique", "blobSchedule", "depositContractAddress"],
  ...["withdrawalRequestContractAddress", "consolidationRequestContractAddress"],
];
/** Fields that do not affect execution. */
const NO_RULE = ["ethash", "discovery", "terminalTotalDifficultyPassed"];
/** Limits that a chain may change in Besu, with Ethereum's values. */
const LIMITS: ReadonlyMap<string, bigint> = new Map([
  ["contractsizelimit", 24_576n],
  ["evmstacksize", 1_024n],
]);

const CONFIG_NAMES = listNames(
  [...[...NUMBER_FORKS, ...TIME_FORKS].map(({field}) => field), ...NO_FORK, ...OTHER_NAMES, ...NO_RULE],
  // The name in Besu.
  {constantinopleFixBlock: "petersburgBlock"},
);
const FORK_LIKE = new RegExp(
  `(block|time|timestamp)$|^(bpo|eip|merge|paris|${[...NUMBER_FORKS, ...TIME_FORKS].map(({name}) => name).join("|")})`,
  "i",
);

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

/** True if `fork` is `since` or later. */
export function hasReached(fork: string, since: string): boolean {
  return IN_ORDER.indexOf(fork) >= IN_ORDER.indexOf(since);
}

/** A genesis config under which `fork` is active from block 0 on. */
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
  // normalize() requires eip155Block to equal eip158Block.
  return config.eip158Block === undefined ? config : {...config, eip155Block: 0};
}

const NOT_EXECUTED =
  "so blocks of this chain cannot be executed here. With --l2 and --source trace it can be followed: nothing is executed then";

/**
 * The known members of a genesis config. @param isExecuted - false: ignores forks and rules that are not supported
 *
 * @throws ExecutionError GENESIS_INVALID for an unknown name that stands for a fork or a rule
 */
export function readConfig(config: JsonObject, isExecuted: boolean): JsonObject {
  const members = readMembers(config, "config.", CONFIG_NAMES, (name, value) => {
    if (!isExecuted) return;
    const limit = LIMITS.get(name.toLowerCase());
    // Chains with other rules put them in an object (arbitrum, scroll, qbft), or enable them by `true` (taiko).
    if (
      typeof value === "object" ||
      value === true ||
      (limit !== undefined && parseQuantity(value, `config.${name}`, 256) !== limit)
    )
      throw invalidGenesis(
        `config.${name}`,
        `is not supported: a chain with it has rules of its own, ${NOT_EXECUTED}`,
      );
    if (FORK_LIKE.test(name))
      throw invalidGenesis(
        `config.${name}`,
        `is a hard fork that is not supported (osaka and the bpo forks are the newest), ${NOT_EXECUTED}`,
      );
  });
  if (
    members.frontierBlock !== undefined &&
    parseQuantity(members.frontierBlock, "config.frontierBlock", 64) !== 0n
  )
    throw invalidGenesis("config.frontierBlock", "must be 0");
  return members;
}

/** The forks by block number, in order. @throws ExecutionError GENESIS_INVALID that names the field */
export function readNumberForks(config: JsonObject): ScheduledFork[] {
  return readForks(normalize(config), NUMBER_FORKS);
}

export function readTimeForks(config: JsonObject): ScheduledFork[] {
  return readForks(config, TIME_FORKS);
}

/** As in geth, petersburg defaults to constantinople, and a chain may oppose the DAO fork. */
function normalize(config: JsonObject): JsonObject {
  if (config.eip155Block !== config.eip158Block)
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
    if (value === undefined) {
      if (fork.optional !== true) missing ??= fork;
      continue;
    }
    if (missing !== undefined)
      throw invalidGenesis(
        `config.${fork.field}`,
        `is set, but ${missing.field}, which comes before, is not`,
      );
    // Some files use the largest 64-bit number for "never".
    const from = parseQuantity(value, `config.${fork.field}`, 64);
    const before = scheduled.at(-1);
    if (before !== undefined && before.from > from)
      throw invalidGenesis(`config.${fork.field}`, `is ${from}, before ${before.name} at ${before.from}`);
    scheduled.push({name: fork.name, from});
  }
  return scheduled;
}
