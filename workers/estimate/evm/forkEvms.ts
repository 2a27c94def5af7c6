/**
 * The EVMs that execute calls: one for each hard fork, each on a state that can be moved to any block.
 *
 * The chain's rules come from block 0 of the store (geth's genesis config), or from --hardfork.
 */
import type {Common} from "@ethereumjs/common";
import {Address} from "@ethereumjs/util";
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {createChainRules} from "../../execution/chainRules.ts";
import {ExecutionError} from "../../execution/errors.ts";
import {ForkSchedule} from "../../execution/forkSchedule.ts";
import {configOfFork} from "../../execution/forks.ts";
import {type JsonObject, parseObject} from "../../execution/gethJson.ts";
import {CallState} from "../state/callState.ts";
import {type HeldState, HeldStates} from "../state/heldState.ts";
import {BoundedEvm} from "./boundedEvm.ts";
import type {Deadline} from "./deadline.ts";
import {EstimateError} from "./estimateError.ts";

export interface ForkEvm {
  readonly common: Common;
  readonly chainId: bigint;
  readonly evm: BoundedEvm;
  readonly state: CallState;
  readonly deadline: Deadline;
}

export interface BlockContext {
  readonly header: {
    readonly number: bigint;
    readonly coinbase: Address;
    readonly timestamp: bigint;
    readonly difficulty: bigint;
    readonly prevRandao: Uint8Array;
    readonly gasLimit: bigint;
    readonly baseFeePerGas?: bigint;
    readonly getBlobGasPrice: () => bigint;
  };
}

/** Wei: fixed on this layer 2, whatever the header says (docs/gas.md). */
export const BASE_FEE = 7n;
/** Blob gas is not used on a layer 2. Its price stays at EIP-4844's minimum. */
const BLOB_BASE_FEE = 1n;
const ZERO_ADDRESS = new Uint8Array(20);
const ZERO_WORD = new Uint8Array(32);

interface ForkEvmsOptions {
  readonly store: StateReader;
  readonly deadline: Deadline;
  /** One of HARDFORKS, for every block; undefined: as the genesis config says. */
  readonly hardfork: string | undefined;
  /** The chain id if block 0 names none. */
  readonly chainId: bigint | undefined;
  /** Gas limit of a block whose source gave none. */
  readonly gasCap: bigint;
}

export class ForkEvms {
  private readonly held: HeldStates;
  private readonly byFork = new Map<string, ForkEvm>();
  private schedule: ForkSchedule | undefined;

  constructor(private readonly options: ForkEvmsOptions) {
    this.held = new HeldStates(options.store);
  }

  /**
   * An EVM on the state of `block`, without anything that an earlier call wrote.
   *
   * @throws EstimateError NOT_AVAILABLE if the store does not say what the chain's rules are
   */
  at(block: BlockRecord): {forkEvm: ForkEvm; context: BlockContext} {
    const schedule = this.readSchedule();
    const {number, timestamp = 0n, difficulty} = block.header;
    const moment = {number, timestamp, ...(difficulty === undefined ? {} : {difficulty})};
    const fork = this.options.hardfork ?? schedule.forkOfHeld(moment);
    const held = this.held.at(block.accounts);
    const forkEvm = this.byFork.get(fork) ?? this.createEvm(schedule, fork, held);
    this.byFork.set(fork, forkEvm);
    forkEvm.state.moveTo(held);
    return {forkEvm, context: this.contextOf(block, forkEvm.common)};
  }

  /** Drops an EVM after an unexpected failure, which may leave anything behind. */
  discard(forkEvm: ForkEvm): void {
    for (const [fork, one] of this.byFork) if (one === forkEvm) this.byFork.delete(fork);
  }

  private createEvm(schedule: ForkSchedule, fork: string, held: HeldState): ForkEvm {
    const common = createChainRules(schedule);
    common.setHardfork(fork);
    const {deadline, store} = this.options;
    const state = new CallState(held);
    const blockchain = {
      getBlock: async (number: number) => ({
        hash: () => new Uint8Array(store.headerRecordOrThrow(number).header.hash),
      }),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const evm = new BoundedEvm({
      common,
      stateManager: state,
      blockchain,
      // The EVM asks for the signer under clique. The store has only the header's miner.
      cliqueSigner: header => header.coinbase,
      deadline,
    });
    return {common, chainId: schedule.chainId, evm, state, deadline};
  }

  private contextOf({header}: BlockRecord, common: Common): BlockContext {
    const {number, timestamp, gasLimit, miner, mixHash, difficulty} = header;
    return {
      header: {
        number: BigInt(number),
        coinbase: new Address(new Uint8Array(miner ?? ZERO_ADDRESS)),
        timestamp: timestamp ?? 0n,
        difficulty: difficulty ?? 0n,
        prevRandao: mixHash ?? ZERO_WORD,
        gasLimit: gasLimit ?? this.options.gasCap,
        ...(common.isActivatedEIP(1559) && {baseFeePerGas: BASE_FEE}),
        getBlobGasPrice: () => BLOB_BASE_FEE,
      },
    };
  }

  private readSchedule(): ForkSchedule {
    // A failure is not kept, because block 0 may still come.
    this.schedule ??= this.makeSchedule();
    return this.schedule;
  }

  private makeSchedule(): ForkSchedule {
    const {store, hardfork} = this.options;
    const chain = store.readChain();
    const chainId = chain?.chainId ?? this.options.chainId;
    try {
      const config: JsonObject | undefined =
        hardfork !== undefined
          ? configOfFork(hardfork)
          : chain?.config === undefined
            ? undefined
            : parseObject(JSON.parse(chain.config), "config");
      if (config === undefined)
        throw notAvailable(
          "block 0 of this store has no genesis config (start with --hardfork to name its rules)",
        );
      if (chainId === undefined && config.chainId === undefined)
        throw notAvailable("block 0 of this store names no chain id (start with --chain-id to name it)");
      return new ForkSchedule(chainId === undefined ? config : {...config, chainId: `${chainId}`});
    } catch (error) {
      if (!(error instanceof ExecutionError)) throw error;
      throw notAvailable(`${error.message} (start with --hardfork to name the rules of this chain)`);
    }
  }
}

/**
 * Clears what a stopped execution left in its EVM. A new EVM instead would cost the next call 1 to 2 ms, half a first slice.
 * (The state is cleared at the start of every call.)
 */
export function resetEvm({evm}: ForkEvm): void {
  evm.journal.cleanJournal();
  evm.transientStorage.clear();
}

function notAvailable(reason: string): EstimateError {
  const detail = `chain_estimateGas is not available: ${reason}`;
  return new EstimateError({failure: "NOT_AVAILABLE", detail});
}
