/**
 * Executes blocks in @ethereumjs: those that our own EVM declines, and those that it does not agree with.
 */
import {
  type Block,
  cliqueSigner,
  createBlockFromRLP,
  type BlockHeader as LibraryHeader,
} from "@ethereumjs/block";
import {createEVM, type EVM, type EVMOpts} from "@ethereumjs/evm";
import {Address, SYSTEM_ADDRESS} from "@ethereumjs/util";
import {createVM, runBlock, type VM} from "@ethereumjs/vm";
import type {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {listRoot} from "../trie/listRoot.ts";
import type {StateTrie} from "../trie/stateTrie.ts";
import type {TrieNodes} from "../trie/trieNodes.ts";
import type {BlockHead} from "./blockHead.ts";
import {checkShape} from "./blockShape.ts";
import {sameBytes} from "./byteKey.ts";
import {createChainRules} from "./chainRules.ts";
import {ExecutionError} from "./errors.ts";
import {ExecutionState} from "./executionState.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import {keepJumpAnalyses} from "./jumpAnalyses.ts";
import {requireParts} from "./libraryParts.ts";
import {checkParent} from "./parentCheck.ts";
import {describeRefusal} from "./refusal.ts";

export class LibraryExecution {
  private readonly common: ReturnType<typeof createChainRules>;
  private readonly state: ExecutionState;
  /** Of one fork. Replaced after a failure too, which may leave its journal in the middle of a transaction. */
  private vm: VM | undefined;
  /** Position in the block that `explain` executes. */
  private refusedTransaction: number | undefined;

  constructor(
    private readonly forks: ForkSchedule,
    nodes: TrieNodes,
    trie: StateTrie,
    private readonly findBlockHash: (number: number) => Uint8Array,
  ) {
    this.common = createChainRules(forks);
    this.state = new ExecutionState(nodes, trie);
  }

  /**
   * Executes a block on the trie's state and moves the trie on.
   *
   * @throws ExecutionError that says what is wrong; the trie stays where it is
   */
  async execute(
    blockRlp: Uint8Array,
    head: BlockHead,
    fork: string,
    parent: BlockHeader,
  ): Promise<AccountDifferences> {
    try {
      // Our own EVM may have moved the trie on.
      this.state.clearCaches();
      await this.run(blockRlp, head, fork, parent);
      const accounts = await this.state.listDifferences();
      await this.state.seal();
      return accounts;
    } catch (error) {
      this.state.discard();
      this.vm = undefined;
      if (error instanceof StoreError) throw error;
      const code = error instanceof ExecutionError ? error.code : "BLOCK_INVALID";
      throw new ExecutionError(code, describeRefusal(error, this.refusedTransaction), {cause: error});
    } finally {
      this.refusedTransaction = undefined;
    }
  }

  private async run(blockRlp: Uint8Array, head: BlockHead, fork: string, parent: BlockHeader): Promise<void> {
    this.moveToFork(fork);
    // Uncles may be older than a fork. The library finds their fork by number, which is enough before the merge.
    let block: Block;
    try {
      block = createBlockFromRLP(blockRlp, {
        common: this.common,
        ...(head.difficulty !== 0n && {setHardfork: true}),
      });
    } catch (error) {
      checkShape(blockRlp, head, this.common);
      throw error;
    }
    // The library encodes the header again from the fields that it knows.
    checkField("header hash", toHex(head.hash), toHex(block.hash()));
    checkParent(head, parent, this.forks, fork);
    rememberTransactionsRoot(block);
    try {
      this.vm ??= await this.createVm();
      await runBlock(this.vm, {block, skipHeaderValidation: true});
    } catch (error) {
      await this.explain(block);
      throw error;
    }
    await this.checkSystemCode();
  }

  private moveToFork(fork: string): void {
    if (fork === this.common.hardfork()) return;
    this.common.setHardfork(fork);
    // Its jump analyses hold the gas of the opcodes of the fork before.
    this.vm = undefined;
  }

  /** Executes a refused block again without the library's comparison, because its errors do not name the computed value. */
  private async explain(block: Block): Promise<void> {
    this.state.discard();
    const vm = await this.createVm();
    let done = 0;
    vm.events.on("beforeBlock", () => {
      this.refusedTransaction = block.transactions.length > 0 ? 0 : undefined;
    });
    vm.events.on("afterTx", () => {
      done++;
      this.refusedTransaction = done < block.transactions.length ? done : undefined;
    });
    const result = await runBlock(vm, {block, generate: true, skipHeaderValidation: true});
    const {header} = block;
    checkField("gas used", `${header.gasUsed}`, `${result.gasUsed}`);
    checkField("receipts root", toHex(header.receiptTrie), toHex(result.receiptsRoot));
    checkField("logs bloom", toHex(header.logsBloom), toHex(result.logsBloom));
    if (header.requestsHash !== undefined && result.requestsHash !== undefined)
      checkField("requests hash", toHex(header.requestsHash), toHex(result.requestsHash));
    checkField("state root", toHex(header.stateRoot), toHex(result.stateRoot));
  }

  private async createVm(): Promise<VM> {
    const blockchain = {
      getBlock: async (number: number) => ({hash: () => this.findBlockHash(number)}),
      putBlock: async () => {},
      shallowCopy: () => blockchain,
    };
    const {common, state: stateManager} = this;
    const evm = await createEVM({common, stateManager, blockchain, cliqueSigner: findCliqueSigner});
    keepJumpAnalyses(evm, {check: () => {}});
    this.watchSystemCalls(evm);
    return createVM({common, stateManager, blockchain, evm});
  }

  /** Makes a failing call an error. The library takes it for one that returned no requests. */
  private watchSystemCalls(evm: EVM): void {
    const runCall = evm.runCall.bind(evm);
    evm.runCall = async call => {
      const result = await runCall(call);
      const failure = result.execResult.exceptionError;
      if (failure === undefined || call.caller?.toString() !== SYSTEM_ADDRESS) return result;
      const called = this.forks.systemContracts.find(
        ({address}) => call.to && sameBytes(address, call.to.bytes),
      );
      throw new Error(
        `the call of the system contract ${call.to} (EIP-${called?.eip}) fails: ${failure.error}`,
      );
    };
  }

  /** After the block, which may have made the contracts. The library takes one without code for one without requests. */
  private async checkSystemCode(): Promise<void> {
    for (const {eip, address} of this.forks.systemContracts) {
      if (!this.common.isActivatedEIP(eip)) continue;
      if ((await this.state.getCode(new Address(address))).length === 0)
        throw new Error(`the system contract ${toHex(address)} (EIP-${eip}) has no code`);
    }
  }
}

/** The EVM calls this for the block that it runs, whose header is complete. */
const findCliqueSigner: NonNullable<EVMOpts["cliqueSigner"]> = header =>
  cliqueSigner(header as LibraryHeader);

/** The library compares it with the header's. It would compute it with a trie that it writes key by key. */
function rememberTransactionsRoot(block: Block): void {
  requireParts(block, "a block", {cache: "object", genTxTrie: "function"});
  const {cache} = block as unknown as {readonly cache: {txTrieRoot?: Uint8Array}};
  cache.txTrieRoot = listRoot(block.transactions.map(transaction => transaction.serialize()));
}

function checkField(name: string, expected: string, got: string): void {
  if (expected !== got) throw new Error(`${name}: expected ${expected} as in its header, got ${got}`);
}
