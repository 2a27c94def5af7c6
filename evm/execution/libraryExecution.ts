/** Executes blocks before berlin with @ethereumjs, and compares the results with their headers. */
import {cliqueSigner, createBlockFromRLP, type BlockHeader as LibraryHeader} from "@ethereumjs/block";
import type {Common, StateManagerInterface} from "@ethereumjs/common";
import {createVM, runBlock, type VM, type VMOpts} from "@ethereumjs/vm";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import type {StateTrie} from "../../storage/commit/stateTrie.ts";
import type {Evm} from "../interpreter/evm.ts";
import type {BlockHead} from "./blockHead.ts";
import {createChainRules} from "./chainRules.ts";
import {EvmState} from "./evmState.ts";
import {BlockMismatch} from "./executionError.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {checkParent} from "./parentCheck.ts";
import {compare} from "./run/blockRun.ts";

/** Called with the header of the block that runs, which is complete although its type does not say so. */
const evmOpts = {cliqueSigner: header => cliqueSigner(header as LibraryHeader)} satisfies VMOpts["evmOpts"];

export class LibraryExecution {
  private readonly common: Common;
  private readonly state: EvmState;
  /** Created for one fork. */
  private vm: VM | undefined;

  /** Must not be used after a failure, which may leave the library's journal in the middle of a transaction. */
  constructor(
    private readonly forks: ForkSchedule,
    evm: Evm,
    trie: StateTrie,
    private readonly findBlockHash: (number: number) => Uint8Array,
  ) {
    this.common = createChainRules(forks);
    this.state = new EvmState(evm, trie);
  }

  /** Executes a block and compares everything but the state root. @throws ExecutionError, StoreError, Error */
  async run(blockRlp: Uint8Array, head: BlockHead, fork: string, parent: BlockHeader): Promise<void> {
    if (fork !== this.common.hardfork()) {
      this.common.setHardfork(fork);
      this.vm = undefined;
    }
    // `setHardfork` lets the library find the fork of each uncle by its number.
    const block = createBlockFromRLP(blockRlp, {common: this.common, setHardfork: true});
    // The library encodes the header from the fields that it knows, and may lose one that it does not.
    compare("header hash", head.hash, block.hash());
    checkParent(head, parent, this.forks, fork);
    this.vm ??= await this.createVm();
    const made = await runBlock(this.vm, {block, generate: true, skipHeaderValidation: true});
    const {header} = block;
    if (made.gasUsed !== header.gasUsed)
      throw new BlockMismatch(`gas used: expected ${header.gasUsed} as in its header, got ${made.gasUsed}`);
    compare("receipts root", header.receiptTrie, made.receiptsRoot);
    compare("logs bloom", header.logsBloom, made.logsBloom);
  }

  private createVm(): Promise<VM> {
    const blockchain = {
      getBlock: async (number: number) => ({hash: () => this.findBlockHash(number)}),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const stateManager = this.state as unknown as StateManagerInterface;
    return createVM({common: this.common, stateManager, blockchain, evmOpts});
  }
}
