/** The library's EVMs that execute calls: one for each hard fork, each on a state that can be moved to any block. */
import type {Common} from "@ethereumjs/common";
import {Address, bigIntToBytes, setLengthLeft} from "@ethereumjs/util";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import type {TreeRoot} from "../../../storage/tree/treeRoot.ts";
import {createChainRules} from "../../execution/chainRules.ts";
import type {ForkSchedule} from "../../execution/forkSchedule.ts";
import type {BlockRules} from "../blockRules.ts";
import type {Deadline} from "../call/deadline.ts";
import {BoundedEvm} from "./boundedEvm.ts";
import {CallState} from "./callState.ts";
import {type HeldState, HeldStates} from "./heldState.ts";

export interface ForkEvm {
  readonly common: Common;
  readonly evm: BoundedEvm;
  readonly state: CallState;
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

const WORD_BYTES = 32;

export class LibraryEvms {
  private readonly held: HeldStates;
  private readonly byFork = new Map<string, ForkEvm>();

  constructor(
    private readonly store: StateReader,
    private readonly deadline: Deadline,
  ) {
    this.held = new HeldStates(store);
  }

  /** An EVM on a state, without anything that an earlier call wrote. @param accounts - the account tree of a block record */
  at({schedule, fork}: BlockRules, accounts: TreeRoot): ForkEvm {
    const held = this.held.at(accounts);
    const forkEvm = this.byFork.get(fork) ?? this.createEvm(schedule, fork, held);
    this.byFork.set(fork, forkEvm);
    forkEvm.state.moveTo(held);
    return forkEvm;
  }

  /** For precompiles. */
  of({schedule, fork}: BlockRules, accounts: TreeRoot): BoundedEvm {
    const forkEvm = this.byFork.get(fork) ?? this.createEvm(schedule, fork, this.held.at(accounts));
    this.byFork.set(fork, forkEvm);
    return forkEvm.evm;
  }

  /** Drops an EVM after an unexpected failure, which may leave anything behind. */
  discard(fork: string): void {
    this.byFork.delete(fork);
  }

  private createEvm(schedule: ForkSchedule, fork: string, held: HeldState): ForkEvm {
    const common = createChainRules(schedule);
    common.setHardfork(fork);
    const {deadline, store} = this;
    const state = new CallState(held);
    const blockchain = {
      getBlock: async (number: number) => ({
        hash: () => new Uint8Array(store.blockHashOrThrow(number)),
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
    return {common, evm, state};
  }
}

export function contextOf({evmBlock, baseFee}: BlockRules): BlockContext {
  const {number, timestamp, gasLimit, coinbase, blobBaseFee, random} = evmBlock;
  return {
    header: {
      ...{number, timestamp, gasLimit},
      coinbase: new Address(new Uint8Array(coinbase)),
      // The library reads the one that the fork has.
      difficulty: random,
      prevRandao: setLengthLeft(bigIntToBytes(random), WORD_BYTES),
      ...(baseFee !== undefined && {baseFeePerGas: baseFee}),
      getBlobGasPrice: () => blobBaseFee,
    },
  };
}

/**
 * Clears what a stopped execution left in its EVM. A new EVM instead would cost the next call 1 to 2 ms, half a first slice.
 * (The state is cleared at the start of every call.)
 */
export function resetEvm({evm}: ForkEvm): void {
  evm.journal.cleanJournal();
  evm.transientStorage.clear();
}
