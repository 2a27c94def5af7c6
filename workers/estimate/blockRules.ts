/** The rules under which a call runs at a block, by the genesis config of block 0 or --hardfork, and the block. */

import {ExecutionError} from "../../evm/execution/executionError.ts";
import {ForkSchedule} from "../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import {listNames, parseObject, readMembers} from "../../evm/execution/gethJson.ts";
import {type ForkRules, forkRules} from "../../evm/execution/rules/forkRules.ts";
import type {EvmBlock} from "../../evm/interpreter/message.ts";
import {type EvmRules, rulesOf} from "../../evm/interpreter/rules.ts";
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {readBigEndian} from "../../storage/rlp/rlpReader.ts";
import {CallFailure} from "../messages/failure.ts";
import {refuseOpStack} from "./call/estimateError.ts";

export interface BlockRules {
  readonly fork: string;
  readonly rules: ForkRules;
  readonly evmRules: EvmRules;
  readonly chainId: bigint;
  readonly evmBlock: EvmBlock;
  /** Wei; undefined before london. */
  readonly baseFee: bigint | undefined;
}

/** Wei: fixed on this layer 2, whatever the header says (docs/gas.md). */
export const BASE_FEE = 7n;
/** Blob gas is not used on a layer 2. Its price stays at EIP-4844's minimum. */
const BLOB_BASE_FEE = 1n;
const ZERO_ADDRESS = new Uint8Array(20);
const OP_STACK = listNames(["optimism"]);

interface ChainRulesOptions {
  readonly store: StateReader;
  /** One of HARDFORKS, for every block; undefined: as the genesis config says. */
  readonly hardfork: string | undefined;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
  /** Gas limit of a block whose source gave none. */
  readonly gasCap: bigint;
}

export class ChainRules {
  private schedule: ForkSchedule | undefined;
  /** Of the block that was asked for last. */
  private last: {readonly hash: Uint8Array; readonly rules: BlockRules} | undefined;

  constructor(private readonly options: ChainRulesOptions) {}

  /**
   * @throws CallFailure NOT_AVAILABLE if the store does not give the chain's rules; RULES_UNKNOWN if the genesis config
   *   is that of an OP stack, whatever `hardfork` is; CALL_INVALID before berlin
   */
  at({header}: BlockRecord): BlockRules {
    if (this.last === undefined || Buffer.compare(this.last.hash, header.hash) !== 0)
      this.last = {hash: new Uint8Array(header.hash), rules: this.read(header)};
    return this.last.rules;
  }

  private read(header: BlockRecord["header"]): BlockRules {
    // A failure is not kept, because block 0 may still come.
    this.schedule ??= this.makeSchedule();
    const {schedule} = this;
    const {number, timestamp = 0n, difficulty, gasLimit, miner, mixHash} = header;
    const fork = this.options.hardfork ?? schedule.forkOfStored({number, timestamp, difficulty});
    const evmRules = rulesOf(fork);
    if (evmRules === undefined) {
      const detail = `gas is estimated under the rules of berlin and later, block ${number} has those of ${fork}`;
      throw new CallFailure({failure: "CALL_INVALID", detail});
    }
    const rules = forkRules(fork);
    const baseFee = rules.hasBaseFee ? BASE_FEE : undefined;
    const {chainId} = schedule;
    return {
      fork,
      rules,
      evmRules,
      chainId,
      baseFee,
      evmBlock: {
        number: BigInt(number),
        timestamp,
        chainId,
        gasLimit: gasLimit ?? this.options.gasCap,
        coinbase: new Uint8Array(miner ?? ZERO_ADDRESS),
        baseFee: baseFee ?? 0n,
        blobBaseFee: BLOB_BASE_FEE,
        random: rules.isMerged ? readBigEndian(mixHash ?? new Uint8Array(0)) : (difficulty ?? 0n),
      },
    };
  }

  private makeSchedule(): ForkSchedule {
    const {store, hardfork} = this.options;
    const chain = store.readChain();
    const chainId = chain?.chainId ?? this.options.chainId;
    const stored = chain?.config === undefined ? undefined : parseObject(JSON.parse(chain.config), "config");
    if (stored !== undefined && readMembers(stored, "config.", OP_STACK).optimism !== undefined)
      throw refuseOpStack();
    try {
      const config = hardfork === undefined ? stored : configOfFork(hardfork);
      if (config === undefined)
        throw notAvailable("this store has no genesis config (start with --hardfork to name its rules)");
      if (chainId === undefined && config.chainId === undefined)
        throw notAvailable("this store names no chain id (start with --chain-id to name it)");
      return new ForkSchedule(chainId === undefined ? config : {...config, chainId: `${chainId}`});
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
      throw notAvailable(`${error.message} (start with --hardfork to name the rules of this chain)`);
    }
  }
}

function notAvailable(reason: string): CallFailure {
  const detail = `chain_estimateGas is not available: ${reason}`;
  return new CallFailure({failure: "NOT_AVAILABLE", detail});
}
