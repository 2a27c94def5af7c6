/** The rules under which a call runs at a block, by the genesis config of block 0 or --hardfork, and the block. */

import {readCliqueSigner} from "../../evm/execution/block/decodedBlock.ts";
import {ExecutionError} from "../../evm/execution/executionError.ts";
import {ForkSchedule} from "../../evm/execution/forkSchedule.ts";
import {configOfFork} from "../../evm/execution/forks.ts";
import {listNames, parseObject, readMembers} from "../../evm/execution/gethJson.ts";
import {blobBaseFee as blobFeeOf} from "../../evm/execution/rules/fees.ts";
import {type ForkRules, forkRules} from "../../evm/execution/rules/forkRules.ts";
import type {EvmBlock} from "../../evm/interpreter/message.ts";
import {type EvmRules, rulesOf} from "../../evm/interpreter/rules.ts";
import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {encodeHeader} from "../../storage/block/headerRlp.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {isSame} from "../../storage/hex.ts";
import {RlpError, RlpReader, readBigEndian} from "../../storage/rlp/rlpReader.ts";
import type {EstimateCall} from "../messages/estimateCall.ts";
import {CallFailure} from "../messages/failure.ts";
import {notAvailable, refuseOpStack} from "./call/estimateError.ts";

export interface BlockRules {
  readonly fork: string;
  readonly rules: ForkRules;
  readonly evmRules: EvmRules;
  readonly chainId: bigint;
  readonly evmBlock: EvmBlock;
  /** The same without base fee, for calls that name no price. */
  readonly freeEvmBlock: EvmBlock;
  /** Wei; undefined before london. */
  readonly baseFee: bigint | undefined;
}

/** Of estimates, wei: fixed on this layer 2, whatever the header says (docs/gas.md). */
export const BASE_FEE = 7n;
/** Of estimates: blob gas is not used on a layer 2. Its price stays at EIP-4844's minimum. */
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

/** What a call's rules depend on, besides its block. */
type RuledCall = Pick<EstimateCall, "method" | "kind" | "blockOverrides">;

export class ChainRules {
  private schedule: ForkSchedule | undefined;
  /** Of the block that was asked for last, without overrides. */
  private last: {readonly hash: Uint8Array; readonly kind: string; readonly rules: BlockRules} | undefined;

  constructor(private readonly options: ChainRulesOptions) {}

  /**
   * @throws CallFailure NOT_AVAILABLE if the store does not give the chain's rules; RULES_UNKNOWN if the genesis config
   *   is that of an OP stack, whatever `hardfork` is; CALL_INVALID before berlin
   */
  at({header}: BlockRecord, call: RuledCall = {}): BlockRules {
    const {kind = "estimate", blockOverrides} = call;
    if (blockOverrides !== undefined) return this.read(header, call);
    const {last} = this;
    if (last !== undefined && last.kind === kind && isSame(last.hash, header.hash)) return last.rules;
    const rules = this.read(header, call);
    this.last = {hash: new Uint8Array(header.hash), kind, rules};
    return rules;
  }

  private read(header: BlockRecord["header"], call: RuledCall): BlockRules {
    const {blockOverrides: overrides = {}} = call;
    const isEstimate = call.kind !== "call";
    // A failure is not kept, because block 0 may still come.
    this.schedule ??= this.makeSchedule(call);
    const {schedule} = this;
    const {number = BigInt(header.number), blobBaseFee, ...others} = overrides;
    const {
      timestamp = 0n,
      difficulty,
      gasLimit,
      miner,
      mixHash,
      baseFeePerGas = 0n,
    } = {
      ...header,
      miner: coinbaseOf(schedule, header),
      ...others,
    };
    const fork = this.forkOf(schedule, {number: Number(number), timestamp, difficulty});
    const evmRules = rulesOf(fork);
    if (evmRules === undefined) {
      const detail = `calls are run under the rules of berlin and later, block ${number} has those of ${fork}`;
      throw new CallFailure({failure: "CALL_INVALID", detail});
    }
    const rules = forkRules(fork);
    const isFixed = isEstimate && overrides.baseFeePerGas === undefined;
    const fee = isFixed ? BASE_FEE : baseFeePerGas;
    const baseFee = rules.hasBaseFee ? fee : undefined;
    const {chainId} = schedule;
    const evmBlock = {
      number,
      hashesEnd: header.number,
      timestamp,
      chainId,
      gasLimit: gasLimit ?? this.options.gasCap,
      coinbase: new Uint8Array(miner ?? ZERO_ADDRESS),
      baseFee: baseFee ?? 0n,
      blobBaseFee: blobBaseFee ?? (isEstimate ? BLOB_BASE_FEE : this.blobBaseFeeOf(schedule, header)),
      random: rules.isMerged ? readBigEndian(mixHash ?? new Uint8Array(0)) : (difficulty ?? 0n),
    };
    const freeEvmBlock = {...evmBlock, baseFee: 0n};
    return {fork, rules, evmRules, chainId, baseFee, evmBlock, freeEvmBlock};
  }

  private forkOf(schedule: ForkSchedule, moment: Parameters<ForkSchedule["forkOfStored"]>[0]): string {
    return this.options.hardfork ?? schedule.forkOfStored(moment);
  }

  /** Wei per blob gas, as nodes compute it from the header. */
  private blobBaseFeeOf(schedule: ForkSchedule, header: BlockRecord["header"]): bigint {
    const {number, timestamp = 0n, difficulty, excessBlobGas} = header;
    const fork = this.forkOf(schedule, {number, timestamp, difficulty});
    if (excessBlobGas === undefined || !forkRules(fork).hasBlobs) return BLOB_BASE_FEE;
    return blobFeeOf(excessBlobGas, schedule.blobLimits(fork));
  }

  private makeSchedule(call: RuledCall): ForkSchedule {
    const {store, hardfork} = this.options;
    const chain = store.readChain();
    const chainId = chain?.chainId ?? this.options.chainId;
    const stored = chain?.config === undefined ? undefined : parseObject(JSON.parse(chain.config), "config");
    if (stored !== undefined && readMembers(stored, "config.", OP_STACK).optimism !== undefined)
      throw refuseOpStack(call);
    try {
      const config = hardfork === undefined ? stored : configOfFork(hardfork);
      if (config === undefined)
        throw notAvailable(
          call,
          "this store has no genesis config (start with --hardfork to name its rules)",
        );
      if (chainId === undefined && config.chainId === undefined)
        throw notAvailable(call, "this store names no chain id (start with --chain-id to name it)");
      return new ForkSchedule(chainId === undefined ? config : {...config, chainId: `${chainId}`});
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
      throw notAvailable(call, `${error.message} (start with --hardfork to name the rules of this chain)`);
    }
  }
}

/** Before the merge, a block of a clique chain pays its signer. Its header names another account, for votes. */
function coinbaseOf({isClique}: ForkSchedule, header: BlockRecord["header"]): Uint8Array | undefined {
  if (!isClique || (header.difficulty ?? 0n) === 0n) return header.miner;
  const bytes = encodeHeader(header);
  try {
    return bytes && readCliqueSigner(new RlpReader(bytes).readList());
  } catch (error) {
    if (error instanceof RlpError) return undefined;
    throw error;
  }
}
