/** Executes blocks from berlin on, in our own EVM. */
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import {Evm} from "../interpreter/evm.ts";
import type {EvmRules} from "../interpreter/rules.ts";
import type {StateTrie} from "../trie/stateTrie.ts";
import type {TrieStore} from "../trie/trieStore.ts";
import {type DecodedBlock, decodeBlock} from "./block/decodedBlock.ts";
import type {BlockHead} from "./blockHead.ts";
import {ChainState, listDifferences} from "./chainState.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {checkParent} from "./parentCheck.ts";
import {blobBaseFee} from "./rules/fees.ts";
import {forkRules} from "./rules/forkRules.ts";
import {compare, runBlock} from "./run/blockRun.ts";

/**
 * Who signed a transaction of a block, if it is known already.
 *
 * @param blockRlp - the object that is executed
 */
export type FindSender = (blockRlp: Uint8Array, position: number) => Uint8Array | undefined;

export class EvmExecution {
  /** undefined after a failure, which may leave it anywhere. */
  private evm: Evm | undefined;
  private readonly state: ChainState;

  constructor(
    private readonly forks: ForkSchedule,
    store: TrieStore,
    private readonly trie: StateTrie,
    findBlockHash: (number: number) => Uint8Array,
    private readonly findSender: FindSender = () => undefined,
  ) {
    this.state = new ChainState(store, trie, findBlockHash);
  }

  /**
   * Executes a block on the trie's state and moves the trie on.
   *
   * @param evmRules - the fork's
   * @throws EvmDeclined, RlpError, BlockMismatch, Error; the trie stays where it is
   */
  async execute(
    blockRlp: Uint8Array,
    head: BlockHead,
    fork: string,
    evmRules: EvmRules,
    parent: BlockHeader,
  ): Promise<AccountDifferences> {
    const rules = forkRules(fork);
    const {chainId} = this.forks;
    const block = this.decode(blockRlp, head, fork);
    checkParent(head, parent, this.forks, fork);
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

  /** A wrong number or timestamp makes it a block of another fork, which has another form. */
  private decode(blockRlp: Uint8Array, {number, timestamp}: BlockHead, fork: string): DecodedBlock {
    try {
      return decodeBlock(blockRlp, forkRules(fork), this.forks.chainId, this.forks.isClique);
    } catch (error) {
      if (error instanceof RlpError)
        error.message += `: by its number ${number} and timestamp ${timestamp} it is a block of ${fork}`;
      throw error;
    }
  }

  private forget(): void {
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
