/**
 * Executes blocks since the merge in our own EVM. What it refuses, or does not agree with, is for the library to judge.
 */
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {Evm} from "../evm/evm.ts";
import {type EvmRules, rulesOf} from "../evm/rules.ts";
import type {StateTrie} from "../trie/stateTrie.ts";
import type {TrieNodes} from "../trie/trieNodes.ts";
import {decodeBlock} from "./block/block.ts";
import type {BlockHead} from "./blockHead.ts";
import {ChainState, listDifferences} from "./chainState.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {checkParent} from "./parentCheck.ts";
import {blobBaseFee} from "./rules/fees.ts";
import {forkRules} from "./rules/forkRules.ts";
import {compare, runBlock} from "./run/blockRun.ts";

/** A block that our own EVM is not for. */
export class Declined extends Error {
  constructor(readonly reason: "before the merge" | "unknown fork") {
    super(reason);
  }
}

/**
 * Who signed a transaction of a block, if it is known already.
 *
 * @param blockRlp - the object that is executed
 */
export type FindSender = (blockRlp: Uint8Array, position: number) => Uint8Array | undefined;

export class EvmExecution {
  /** undefined after a failure, which may leave it anywhere, and when the trie has moved on. */
  private evm: Evm | undefined;
  private readonly state: ChainState;
  private rules: {readonly fork: string; readonly rules: EvmRules | undefined} | undefined;

  constructor(
    private readonly forks: ForkSchedule,
    nodes: TrieNodes,
    private readonly trie: StateTrie,
    findBlockHash: (number: number) => Uint8Array,
    private readonly findRules: (fork: string) => EvmRules | undefined = rulesOf,
    private readonly findSender: FindSender = () => undefined,
  ) {
    this.state = new ChainState(nodes, trie, findBlockHash);
  }

  /**
   * Executes a block on the trie's state and moves the trie on.
   *
   * @throws Declined, EvmDeclined, RlpError, BlockMismatch, Error; the trie stays where it is
   */
  async execute(
    blockRlp: Uint8Array,
    head: BlockHead,
    fork: string,
    parent: BlockHeader,
  ): Promise<AccountDifferences> {
    if (head.difficulty !== 0n) throw new Declined("before the merge");
    const evmRules = this.rulesOf(fork);
    if (evmRules === undefined) throw new Declined("unknown fork");
    checkParent(head, parent, this.forks, fork);
    const rules = forkRules(fork);
    const {chainId} = this.forks;
    const block = decodeBlock(blockRlp, rules, chainId);
    const {header} = block;
    const {excessBlobGas, stateRoot, coinbase, baseFee} = header;
    const blobFee =
      excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, this.forks.blobLimits(fork));
    const fees = {chainId, coinbase, baseFee, blobBaseFee: blobFee};
    const evm = this.openEvm();
    try {
      evm.setBlock(evmRules, {...header, ...fees});
      const senderAt = (position: number): Uint8Array | undefined => this.findSender(blockRlp, position);
      await runBlock(evm, block, {forks: this.forks, fork, rules, senderAt, ...fees});
      const accounts = listDifferences(evm);
      compare("state root", stateRoot, this.trie.change(accounts));
      this.trie.seal();
      this.state.clearCache();
      evm.seal();
      return accounts;
    } catch (error) {
      this.trie.drop();
      this.forget();
      throw error;
    }
  }

  /** The same object for the same fork: the EVM takes others in anew. */
  private rulesOf(fork: string): EvmRules | undefined {
    if (this.rules?.fork !== fork) this.rules = {fork, rules: this.findRules(fork)};
    return this.rules.rules;
  }

  /** Call it when the trie has moved on by another way. */
  forget(): void {
    this.evm = undefined;
    this.state.clearCache();
  }

  private openEvm(): Evm {
    if (this.evm !== undefined) return this.evm;
    this.evm = new Evm();
    this.evm.moveTo(this.state);
    return this.evm;
  }
}
