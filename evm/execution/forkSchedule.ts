/**
 * Which hard fork a block falls under, from geth's genesis config.
 *
 *   by number     homestead ... grayGlacier     blocks with a difficulty
 *   paris         blocks with difficulty 0      geth's own test, so no total difficulty is needed
 *   by timestamp  shanghai ... bpo5             blocks with difficulty 0
 */
import {readBlobSchedule} from "./blobSchedule.ts";
import {CHAIN_START, PARIS, readConfig, readNumberForks, readTimeForks, type ScheduledFork} from "./forks.ts";
import {invalidGenesis, type JsonObject, parseFixedBytes, parseQuantity} from "./gethJson.ts";
import type {BlobLimits} from "./rules/fees.ts";

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
  /** 20 bytes; zeros if there is none, as in geth. Its logs are deposits (EIP-6110). */
  readonly depositContract: Uint8Array;

  /** The consensus before the merge is clique, not ethash. */
  get isClique(): boolean {
    return this.config.clique !== undefined;
  }

  /** What is known of the genesis config. */
  readonly config: JsonObject;

  /**
   * @param isExecuted - false: no block is executed under it, so it may have forks and rules that are not supported
   * @throws ExecutionError GENESIS_INVALID naming the field of `genesisConfig`
   */
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
   * The fork of a stored block, from the header fields in the store. If they lack the difficulty, a block from london on
   * counts as one after the merge.
   */
  forkOfHeld(block: {
    readonly number: number;
    readonly timestamp: bigint;
    readonly difficulty?: bigint | undefined;
  }): string {
    const timed = lastActive(this.byTime, block.timestamp);
    const hasMerged = timed !== undefined || (block.difficulty ?? 0n) === 0n;
    if (hasMerged && this.isActive("london", block)) return timed ?? PARIS;
    return lastActive(this.byNumber, BigInt(block.number)) ?? CHAIN_START;
  }

  /** By number or time alone, as in geth for block 0, whose difficulty says nothing. */
  isActive(name: string, moment: Pick<BlockMoment, "number" | "timestamp">): boolean {
    const reached = (fork: ScheduledFork, now: bigint): boolean => fork.name === name && fork.from <= now;
    return (
      this.byNumber.some(fork => reached(fork, BigInt(moment.number))) ||
      (this.byTime.some(fork => reached(fork, moment.timestamp)) && this.isActive("london", moment))
    );
  }

  /** @param fork - from cancun on */
  blobLimits(fork: string): BlobLimits {
    const limits = this.blobs.get(fork);
    if (limits === undefined) throw new Error(`expected a fork that has blobs, got ${fork}`);
    return limits;
  }
}

function lastActive(forks: readonly ScheduledFork[], now: bigint): string | undefined {
  return forks.findLast(fork => fork.from <= now)?.name;
}

/**
 * The contracts that are called after a block's transactions: for withdrawal requests (EIP-7002) and consolidation requests
 * (EIP-7251). A block is invalid if one of them has no code or if its call fails.
 */
interface SystemContract {
  readonly eip: number;
  /** Of its requests (EIP-7685). */
  readonly type: number;
  /** 20 bytes. */
  readonly address: Uint8Array;
}

/** With the names of their addresses in Besu's genesis config. */
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

/** In the order of their calls. Addresses that a genesis config does not set are those of the EIPs. */
function readSystemContracts(config: JsonObject): SystemContract[] {
  return CONTRACTS.map(({standard, field, ...contract}) => ({
    ...contract,
    address: parseFixedBytes(config[field] ?? standard, `config.${field}`, 20),
  }));
}
