/**
 * Which hard fork a block falls under, from geth's genesis config.
 *
 *   by number     homestead ... grayGlacier     blocks with a difficulty
 *   paris         blocks with difficulty 0      geth's own test, so no total difficulty is needed
 *   by timestamp  shanghai ... bpo5             blocks with difficulty 0
 */
import type {ChainConfig, HardforkTransitionConfig, ParamsConfig} from "@ethereumjs/common";
import type {PrefixedHexString} from "@ethereumjs/util";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {ecrecover} from "../evm/ecrecover.ts";
import {type BlobSchedule, readBlobSchedule} from "./blobSchedule.ts";
import {ChainRules} from "./chainRules.ts";
import {
  CHAIN_START,
  checkForkFields,
  PARIS,
  readNumberForks,
  readTimeForks,
  type ScheduledFork,
} from "./forks.ts";
import {invalidGenesis, type JsonObject, parseFixedBytes, parseObject, parseQuantity} from "./gethJson.ts";
import {kzg} from "./kzg.ts";
import {readSystemAddresses} from "./systemContracts.ts";

interface BlockMoment {
  readonly number: number;
  readonly timestamp: bigint;
  readonly difficulty: bigint;
}

export class ForkSchedule {
  readonly chainId: bigint;
  private readonly byNumber: readonly ScheduledFork[];
  private readonly byTime: readonly ScheduledFork[];
  private readonly blobs: BlobSchedule;
  private readonly systemAddresses: ParamsConfig;

  /** @throws ExecutionError GENESIS_INVALID naming the field of `config` */
  constructor(private readonly config: JsonObject) {
    if (config.chainId === undefined) throw invalidGenesis("config.chainId", "is missing");
    this.chainId = parseQuantity(config.chainId, "config.chainId", 53);
    checkForkFields(config);
    for (const consensus of ["ibft2", "qbft", "bor", "parlia", "optimism", "istanbul"])
      if (config[consensus] !== undefined)
        throw invalidGenesis(`config.${consensus}`, "is a consensus whose rules are not supported");
    if (config.enableVerkleAtGenesis === true)
      throw invalidGenesis("config.enableVerkleAtGenesis", "is not supported");
    this.byNumber = readNumberForks(config);
    this.byTime = readTimeForks(config);
    if (this.byTime.length > 0 && !this.byNumber.some(fork => fork.name === "london"))
      throw invalidGenesis("config.londonBlock", "is missing, though a fork by time is set");
    this.blobs = readBlobSchedule(config.blobSchedule, this.byTime);
    this.systemAddresses = readSystemAddresses(config);
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
    readonly difficulty?: bigint;
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

  /** The rules of the whole chain; `setHardfork(forkAt(block))` selects a block's. */
  createCommon(): ChainRules {
    const {config} = this;
    const scheduled: HardforkTransitionConfig[] = [
      {name: CHAIN_START, block: 0},
      ...this.byNumber.map(fork => ({name: fork.name, block: Number(fork.from)})),
      {name: PARIS, block: null},
      ...this.byTime.map(fork => ({name: fork.name, block: null, timestamp: Number(fork.from)})),
    ];
    const {customHardforks} = this.blobs;
    const params = {...this.blobs.params, prague: {...this.blobs.params.prague, ...this.systemAddresses}};
    // geth's default is no deposit contract; @ethereumjs would take mainnet's.
    const depositContract =
      config.depositContractAddress === undefined
        ? new Uint8Array(20)
        : parseFixedBytes(config.depositContractAddress, "config.depositContractAddress", 20);
    const chain: ChainConfig = {
      name: "genesis",
      chainId: Number(this.chainId),
      defaultHardfork: CHAIN_START,
      // Only @ethereumjs' blockchain package reads this. genesisBlock.ts makes the genesis block.
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
    return new ChainRules({chain, hardfork: CHAIN_START, customCrypto: {keccak256, ecrecover, kzg}, params});
  }
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
