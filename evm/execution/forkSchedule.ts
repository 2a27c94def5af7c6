/**
 * Which hard fork a block falls under, from geth's genesis config.
 *
 *   by number     homestead ... grayGlacier     blocks with a difficulty
 *   paris         blocks with difficulty 0      as geth does, so the total difficulty is not needed
 *   by timestamp  shanghai ... bpo5             blocks with difficulty 0
 */
import {CHAIN_START, PARIS, readConfig, readNumberForks, readTimeForks, type ScheduledFork} from "./forks.ts";
import {
  invalidGenesis,
  type JsonObject,
  listNames,
  parseFixedBytes,
  parseObject,
  parseQuantity,
  readMembers,
} from "./gethJson.ts";
import {BLOB_GAS, type BlobLimits} from "./rules/fees.ts";

interface BlockMoment {
  readonly number: number;
  readonly timestamp: bigint;
  readonly difficulty: bigint;
}

export class ForkSchedule {
  readonly chainId: bigint;
  readonly byNumber: readonly ScheduledFork[];
  readonly byTime: readonly ScheduledFork[];
  private readonly blobs: ReadonlyMap<string, BlobLimits>;
  readonly systemContracts: readonly SystemContract[];
  /** 20 bytes; zeros if not configured, as in geth. Its logs are deposits (EIP-6110). */
  readonly depositContract: Uint8Array;

  /** The consensus before the merge is clique, not ethash. */
  get isClique(): boolean {
    return this.config.clique !== undefined;
  }

  /** The known members of the genesis config. */
  readonly config: JsonObject;

  /** @param isExecuted - false: allows unsupported forks and rules. @throws ExecutionError GENESIS_INVALID */
  constructor(genesisConfig: JsonObject, isExecuted = true) {
    const config = readConfig(genesisConfig, isExecuted);
    this.config = config;
    if (config.chainId === undefined) throw invalidGenesis("config.chainId", "is missing");
    this.chainId = parseQuantity(config.chainId, "config.chainId", 53);
    this.byNumber = readNumberForks(config);
    this.byTime = readTimeForks(config);
    if (this.byTime.length > 0 && !this.byNumber.some(fork => fork.name === "london"))
      throw invalidGenesis("config.londonBlock", "is missing, though a fork by time is set");
    this.blobs = readBlobSchedule(config.blobSchedule, this.byTime);
    this.systemContracts = readSystemContracts(config);
    this.depositContract =
      config.depositContractAddress === undefined
        ? new Uint8Array(20)
        : parseFixedBytes(config.depositContractAddress, "config.depositContractAddress", 20);
  }

  /** @returns the fork's name in @ethereumjs/common. @throws Error if the config has no fork for such a block */
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

  /** From stored header fields. Without a difficulty, a block from london on is taken for one after the merge. */
  forkOfStored(block: {
    readonly number: number;
    readonly timestamp: bigint;
    readonly difficulty?: bigint | undefined;
  }): string {
    const timed = lastActive(this.byTime, block.timestamp);
    const hasMerged = timed !== undefined || (block.difficulty ?? 0n) === 0n;
    if (hasMerged && this.isActive("london", block)) return timed ?? PARIS;
    return lastActive(this.byNumber, BigInt(block.number)) ?? CHAIN_START;
  }

  /** Decides by number and time alone, as geth does for block 0, whose difficulty does not matter. */
  isActive(name: string, moment: Pick<BlockMoment, "number" | "timestamp">): boolean {
    const reached = (fork: ScheduledFork, now: bigint): boolean => fork.name === name && fork.from <= now;
    return (
      this.byNumber.some(fork => reached(fork, BigInt(moment.number))) ||
      (this.byTime.some(fork => reached(fork, moment.timestamp)) && this.isActive("london", moment))
    );
  }

  /** @param fork - cancun or later */
  blobLimits(fork: string): BlobLimits {
    const limits = this.blobs.get(fork);
    if (limits === undefined) throw new Error(`expected a fork that has blobs, got ${fork}`);
    return limits;
  }
}

function lastActive(forks: readonly ScheduledFork[], now: bigint): string | undefined {
  return forks.findLast(fork => fork.from <= now)?.name;
}

/** Called after a block's transactions (EIP-7002, EIP-7251). Without code, or if it fails, the block is invalid. */
interface SystemContract {
  readonly eip: number;
  /** Request type (EIP-7685). */
  readonly type: number;
  /** 20 bytes. */
  readonly address: Uint8Array;
}

/** `field` is the address's name in Besu's genesis config. */
const CONTRACTS = [
  {
    eip: 7002,
    type: 1,
    standard: "0x00000961ef480eb55e80d19ad83579a64c007002",
    field: "withdrawalRequestContractAddress",
  },
  {
    eip: 7251,
    type: 2,
    standard: "0x0000bbddc7ce488642fb579f8b00f3a590007251",
    field: "consolidationRequestContractAddress",
  },
];

/** In call order. Default addresses are those of the EIPs. */
function readSystemContracts(config: JsonObject): SystemContract[] {
  return CONTRACTS.map(({standard, field, ...contract}) => ({
    ...contract,
    address: parseFixedBytes(config[field] ?? standard, `config.${field}`, 20),
  }));
}

/** Default blob limits (EIP-4844 and EIP-7691). */
const LIMITS_OF_EIPS: Readonly<Record<string, BlobLimits>> = {
  cancun: {target: 3n * BLOB_GAS, max: 6n * BLOB_GAS, updateFraction: 3_338_477n},
  prague: {target: 6n * BLOB_GAS, max: 9n * BLOB_GAS, updateFraction: 5_007_716n},
};

/** @returns the limits of each fork from cancun on; those of its EIP where `blobSchedule` does not name the fork */
function readBlobSchedule(value: unknown, forks: readonly ScheduledFork[]): ReadonlyMap<string, BlobLimits> {
  const path = "config.blobSchedule";
  const names = listNames(forks.map(({name}) => name));
  // It may name forks that the config does not schedule.
  const schedule = readMembers(parseObject(value ?? {}, path), `${path}.`, names);
  const limits = new Map<string, BlobLimits>();
  let last: BlobLimits | undefined;
  for (const {name} of forks.slice(1)) {
    last = LIMITS_OF_EIPS[name] ?? last;
    if (schedule[name] !== undefined) last = readBlobLimits(schedule[name], `${path}.${name}`);
    else if (name.startsWith("bpo"))
      throw invalidGenesis(`${path}.${name}`, `is missing, though ${name}Time is set`);
    if (last !== undefined) limits.set(name, last);
  }
  return limits;
}

const LIMIT_NAMES = listNames(["target", "max", "baseFeeUpdateFraction"]);

function readBlobLimits(value: unknown, field: string): BlobLimits {
  const entry = readMembers(parseObject(value, field), `${field}.`, LIMIT_NAMES);
  return {
    target: parseQuantity(entry.target, `${field}.target`, 16) * BLOB_GAS,
    max: parseQuantity(entry.max, `${field}.max`, 16) * BLOB_GAS,
    updateFraction: parseQuantity(entry.baseFeeUpdateFraction, `${field}.baseFeeUpdateFraction`, 53),
  };
}
