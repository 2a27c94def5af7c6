/**
 * Which hard fork a block falls under, from geth's genesis config.
 *
 *   by number     homestead ... grayGlacier     blocks with a difficulty
 *   paris         blocks with difficulty 0      geth's own test; so no total difficulty has to be kept
 *   by timestamp  shanghai ... bpo5             blocks with difficulty 0
 */
import {
  type ChainConfig,
  Common,
  type HardforkConfig,
  type HardforkTransitionConfig,
  type ParamsConfig,
  type ParamsDict,
} from "@ethereumjs/common";
import type {PrefixedHexString} from "@ethereumjs/util";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {invalidGenesis, type JsonObject, parseFixedBytes, parseObject, parseQuantity} from "./gethJson.ts";
import {kzg} from "./kzg.ts";

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

/** End like a fork but change nothing that a block's execution sees. */
const NO_FORK = new Set(["mergeNetsplitBlock", "mergeForkBlock", "eip155Block"]);

const CHAIN_START = "chainstart";
const PARIS = "paris";
const BLOB_GAS = 131072;

interface BlobSchedule {
  readonly params: ParamsDict;
  readonly customHardforks: Record<string, HardforkConfig>;
}

interface ScheduledFork {
  readonly name: string;
  /** Block number or timestamp. */
  readonly from: bigint;
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
  // eip155 goes with eip158, as normalize() wants it.
  return config.eip158Block === undefined ? config : {...config, eip155Block: 0};
}

export interface BlockMoment {
  readonly number: number;
  readonly timestamp: bigint;
  readonly difficulty: bigint;
}

export class ForkSchedule {
  readonly chainId: bigint;
  private readonly config: JsonObject;
  private readonly byNumber: readonly ScheduledFork[];
  private readonly byTime: readonly ScheduledFork[];
  private readonly blobs: BlobSchedule;

  /** @throws ExecutionError GENESIS_INVALID naming the field of `config` */
  constructor(config: JsonObject) {
    this.config = config;
    if (config.chainId === undefined) throw invalidGenesis("config.chainId", "is missing");
    this.chainId = parseQuantity(config.chainId, "config.chainId", 53);
    for (const [field, value] of Object.entries(config)) {
      const known = [...NUMBER_FORKS, ...TIME_FORKS].some(fork => fork.field === field) || NO_FORK.has(field);
      if (/(Block|Time)$/.test(field) && !known && value !== null)
        throw invalidGenesis(
          `config.${field}`,
          "is a hard fork that is not supported (osaka and the bpo forks are the newest)",
        );
    }
    for (const consensus of ["ibft2", "qbft", "bor", "parlia", "optimism", "istanbul"])
      if (config[consensus] !== undefined)
        throw invalidGenesis(`config.${consensus}`, "is a consensus whose rules are not supported");
    if (config.enableVerkleAtGenesis === true)
      throw invalidGenesis("config.enableVerkleAtGenesis", "is not supported");
    this.byNumber = readForks(normalize(config), NUMBER_FORKS);
    this.byTime = readForks(config, TIME_FORKS);
    if (this.byTime.length > 0 && !this.byNumber.some(fork => fork.name === "london"))
      throw invalidGenesis("config.londonBlock", "is missing, though a fork by time is set");
    this.blobs = readBlobSchedule(config.blobSchedule, this.byTime);
  }

  /**
   * The fork's name in @ethereumjs/common.
   *
   * @throws Error if the config has no fork for such a block
   */
  forkAt(moment: BlockMoment): string {
    const numbered = lastActive(this.byNumber, BigInt(moment.number)) ?? CHAIN_START;
    const timed = lastActive(this.byTime, moment.timestamp);
    if (moment.difficulty !== 0n) {
      if (timed !== undefined)
        throw new Error(`has difficulty ${moment.difficulty}, but ${timed} forbids one by its time`);
      return numbered;
    }
    if (!this.isActive("london", moment)) throw new Error("has difficulty 0, but london is not active");
    return timed ?? PARIS;
  }

  /**
   * The fork of a block that is held, from what the store has of its header. Where it has no difficulty, a block from
   * london on counts as one since the merge.
   */
  forkOfHeld(block: {
    readonly number: number;
    readonly timestamp: bigint;
    readonly difficulty?: bigint;
  }): string {
    const timed = lastActive(this.byTime, block.timestamp);
    const hasMerged = timed !== undefined || (block.difficulty ?? 0n) === 0n;
    if (hasMerged && this.isActive("london", block)) return timed ?? PARIS;
    return lastActive(this.byNumber, BigInt(block.number)) ?? CHAIN_START;
  }

  /** By number or time alone, as geth asks for block 0, whose difficulty says nothing. */
  isActive(name: string, moment: Pick<BlockMoment, "number" | "timestamp">): boolean {
    const reached = (fork: ScheduledFork, now: bigint): boolean => fork.name === name && fork.from <= now;
    return (
      this.byNumber.some(fork => reached(fork, BigInt(moment.number))) ||
      (this.byTime.some(fork => reached(fork, moment.timestamp)) && this.isActive("london", moment))
    );
  }

  /** The rules of the whole chain; `setHardfork(forkAt(block))` selects a block's. */
  createCommon(): Common {
    const {config} = this;
    const scheduled: HardforkTransitionConfig[] = [
      {name: CHAIN_START, block: 0},
      ...this.byNumber.map(fork => ({name: fork.name, block: Number(fork.from)})),
      {name: PARIS, block: null},
      ...this.byTime.map(fork => ({name: fork.name, block: null, timestamp: Number(fork.from)})),
    ];
    const {params, customHardforks} = this.blobs;
    // geth's default is no deposit contract; @ethereumjs would take mainnet's.
    const depositContract =
      config.depositContractAddress === undefined
        ? new Uint8Array(20)
        : parseFixedBytes(config.depositContractAddress, "config.depositContractAddress", 20);
    const chain: ChainConfig = {
      name: "genesis",
      chainId: Number(this.chainId),
      defaultHardfork: CHAIN_START,
      // Asked by @ethereumjs' blockchain package only; the genesis block is made in genesisBlock.ts.
      genesis: {gasLimit: 0, difficulty: 0, nonce: "0x", extraData: "0x"},
      hardforks: scheduled,
      customHardforks,
      bootstrapNodes: [],
      consensus:
        config.clique === undefined
          ? {type: "pow", algorithm: "ethash", ethash: {}}
          : {type: "poa", algorithm: "clique", clique: readClique(config.clique)},
      depositContractAddress: toHex(depositContract) as PrefixedHexString,
    };
    return new Common({chain, hardfork: CHAIN_START, customCrypto: {keccak256, kzg}, params});
  }
}

/** What `blobSchedule` says of each fork; the EIPs' own counts where it says nothing. */
function readBlobSchedule(value: unknown, forks: readonly ScheduledFork[]): BlobSchedule {
  const schedule = parseObject(value ?? {}, "config.blobSchedule");
  const params: ParamsDict = {};
  const customHardforks: Record<string, HardforkConfig> = {};
  for (const {name} of forks.slice(1)) {
    const isBlobFork = name.startsWith("bpo");
    if (schedule[name] === undefined) {
      if (isBlobFork)
        throw invalidGenesis(`config.blobSchedule.${name}`, `is missing, though ${name}Time is set`);
      continue;
    }
    const counts = readBlobCounts(schedule[name], `config.blobSchedule.${name}`);
    // Forks that change nothing else are not all known to @ethereumjs; of the others it has the EIPs.
    if (isBlobFork) customHardforks[name] = {eips: [], params: counts};
    else params[name] = counts;
  }
  return {params, customHardforks};
}

function readBlobCounts(value: unknown, field: string): ParamsConfig {
  const entry = parseObject(value, field);
  const target = Number(parseQuantity(entry.target, `${field}.target`, 16));
  const max = Number(parseQuantity(entry.max, `${field}.max`, 16));
  return {
    // @ethereumjs reads the first two from bpo1 on, the next two before.
    target,
    max,
    targetBlobGasPerBlock: target * BLOB_GAS,
    maxBlobGasPerBlock: max * BLOB_GAS,
    blobGasPriceUpdateFraction: Number(
      parseQuantity(entry.baseFeeUpdateFraction, `${field}.baseFeeUpdateFraction`, 53),
    ),
  };
}

/** What geth derives: eip155 goes with eip158, petersburg with constantinople, and a DAO fork may be opposed. */
function normalize(config: JsonObject): JsonObject {
  if ((config.eip155Block ?? null) !== (config.eip158Block ?? null))
    throw invalidGenesis("config.eip155Block", "must equal eip158Block");
  return {
    ...config,
    petersburgBlock: config.petersburgBlock ?? config.constantinopleBlock,
    daoForkBlock: config.daoForkSupport === true ? config.daoForkBlock : undefined,
  };
}

/** The forks that are set, in order. */
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

function lastActive(forks: readonly ScheduledFork[], now: bigint): string | undefined {
  return forks.findLast(fork => fork.from <= now)?.name;
}

function readClique(value: unknown): {period: number; epoch: number} {
  const clique = parseObject(value, "config.clique");
  return {
    period: Number(
      parseQuantity(clique.period ?? clique.blockperiodseconds ?? 0, "config.clique.period", 53),
    ),
    epoch: Number(parseQuantity(clique.epoch ?? clique.epochlength ?? 30000, "config.clique.epoch", 53)),
  };
}
