/**
 * Executes blocks since the merge in our own EVM. What it refuses, or does not agree with, is for the library to judge.
 */
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {Evm} from "../evm/evm.ts";
import {type EvmRules, rulesOf} from "../evm/rules.ts";
import {decodeBlock} from "./block/block.ts";
import type {BlockHead} from "./blockHead.ts";
import {sameBytes} from "./byteKey.ts";
import {ChainState} from "./chainState.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {LibraryPrecompiles} from "./libraryPrecompiles.ts";
import {checkParent} from "./parentCheck.ts";
import {blobBaseFee} from "./rules/fees.ts";
import {forkRules} from "./rules/forkRules.ts";
import {compare, runBlock} from "./run/blockRun.ts";
import type {TrieNodes} from "./trieNodes.ts";

/** A block that our own EVM is not for. */
export class Declined extends Error {
  constructor(readonly reason: "before the merge" | "unknown fork") {
    super(reason);
  }
}

export interface ParentBlock {
  readonly header: BlockHeader;
  /** Of the state that the block is executed on. */
  readonly root: Uint8Array;
}

export class EvmExecution {
  /** undefined after a failure, which may leave it anywhere. */
  private evm: Evm | undefined;
  /** Of the state that `evm` holds. */
  private root: Uint8Array | undefined;
  private readonly state: ChainState;
  private readonly precompiles: LibraryPrecompiles;
  private rules: {readonly fork: string; readonly rules: EvmRules | undefined} | undefined;

  constructor(
    private readonly forks: ForkSchedule,
    nodes: TrieNodes,
    findBlockHash: (number: number) => Uint8Array,
    private readonly findRules: (fork: string) => EvmRules | undefined = rulesOf,
  ) {
    this.state = new ChainState(nodes, findBlockHash);
    this.precompiles = new LibraryPrecompiles(forks, () => this.rules?.fork as string);
  }

  /**
   * Executes a block and puts the nodes that it makes.
   *
   * @throws Declined, EvmDeclined, RlpError, BlockMismatch, Error; nothing is put
   */
  async execute(
    blockRlp: Uint8Array,
    head: BlockHead,
    fork: string,
    parent: ParentBlock,
  ): Promise<AccountDifferences> {
    if (head.difficulty !== 0n) throw new Declined("before the merge");
    const evmRules = this.rulesOf(fork);
    if (evmRules === undefined) throw new Declined("unknown fork");
    checkParent(head, parent.header, this.forks, fork);
    const rules = forkRules(fork);
    const {chainId} = this.forks;
    const block = decodeBlock(blockRlp, rules, chainId);
    const {header} = block;
    const {excessBlobGas, stateRoot, coinbase, baseFee} = header;
    const blobFee =
      excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, this.forks.blobLimits(fork));
    const fees = {chainId, coinbase, baseFee, blobBaseFee: blobFee};
    const evm = this.openEvm(parent.root);
    try {
      evm.setBlock(evmRules, {...header, ...fees});
      await runBlock(evm, block, {forks: this.forks, fork, rules, ...fees});
      const accounts = this.state.apply(evm, root => compare("state root", stateRoot, root));
      evm.seal();
      this.root = stateRoot;
      return accounts;
    } catch (error) {
      this.evm = undefined;
      throw error;
    }
  }

  /** The same object for the same fork: the EVM takes others in anew. */
  private rulesOf(fork: string): EvmRules | undefined {
    if (this.rules?.fork !== fork) this.rules = {fork, rules: this.findRules(fork)};
    return this.rules.rules;
  }

  /** The EVM at this state, with what it knows of it. */
  private openEvm(root: Uint8Array): Evm {
    if (this.evm !== undefined && this.root !== undefined && sameBytes(root, this.root)) return this.evm;
    this.evm ??= new Evm(this.precompiles);
    this.state.moveTo(root);
    this.evm.moveTo(this.state);
    this.root = root;
    return this.evm;
  }
}
