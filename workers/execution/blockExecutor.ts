/**
 * Executes a chain's blocks one after the other and turns each into a block difference.
 *
 * A block is accepted if its header follows from its parent's (parentCheck.ts) and execution gives what it says: gas used,
 * receipts root, logs bloom, requests hash and state root. What only consensus decides (seals, difficulty) is not checked. It
 * is taken from the chain, whose hashes link it to the genesis.
 */
import {
  type Block,
  cliqueSigner,
  createBlockFromRLP,
  type BlockHeader as LibraryHeader,
} from "@ethereumjs/block";
import type {Common} from "@ethereumjs/common";
import {createEVM, type EVMOpts} from "@ethereumjs/evm";
import {createVM, runBlock, type VM} from "@ethereumjs/vm";
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import {decodeTrieRoot, encodeTrieRoot, trieRootName} from "../../storage/block/trieRoot.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {listRoot} from "../trie/listRoot.ts";
import type {TrieNodes} from "../trie/trieNodes.ts";
import {type BlockHead, decodeBlockHead} from "./blockHead.ts";
import {checkShape} from "./blockShape.ts";
import {describeMissingTrie, ExecutionError} from "./errors.ts";
import {ExecutionState} from "./executionState.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import type {Genesis} from "./genesis.ts";
import {makeGenesisBlock} from "./genesisBlock.ts";
import {keepJumpAnalyses} from "./jumpAnalyses.ts";
import {requireParts} from "./libraryParts.ts";
import {checkParent} from "./parentCheck.ts";
import {describeRefusal} from "./refusal.ts";
import {checkSystemCode, watchSystemCalls} from "./systemContracts.ts";

export interface BlockExecutorOptions {
  readonly forks: ForkSchedule;
  /** Keeps the tries between runs. It must return whatever was put. */
  readonly nodes: TrieNodes;
  /** Hash of a stored block, for BLOCKHASH. Called only for blocks that this executor did not execute. */
  readonly blockHash: (number: number) => Uint8Array | undefined;
}

export interface BlockId {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** How far back BLOCKHASH sees. */
const RECENT_BLOCKS = 256;

export class BlockExecutor {
  private readonly common: Common;
  private readonly state: ExecutionState;
  private readonly recent = new Map<number, Uint8Array>();
  /** Of one fork. Replaced after a failure too, which may leave its journal in the middle of a transaction. */
  private vm: VM | undefined;
  /** Position in the block that `explain` executes. */
  private refusedTransaction: number | undefined;

  private constructor(
    private readonly options: BlockExecutorOptions,
    private last: BlockHeader,
  ) {
    this.common = options.forks.createCommon();
    this.state = new ExecutionState(options.nodes);
  }

  /**
   * Starts at block 0 and puts the allocation's nodes. `difference` is block 0 itself.
   *
   * @param chainHead - the header of the chain's block 0, if it is another one than the genesis gives. Its state root is not
   *   read: the allocation's state is what block 1 is executed on
   */
  static async start(
    options: BlockExecutorOptions,
    genesis: Genesis,
    chainHead?: BlockHead,
  ): Promise<{executor: BlockExecutor; difference: BlockDifference}> {
    const made = await makeGenesisBlock(genesis, options.nodes);
    const header = chainHead ?? made.head;
    putRoot(options.nodes, header, made.head.stateRoot);
    const executor = new BlockExecutor(options, header);
    await executor.state.setStateRoot(made.head.stateRoot);
    return {executor, difference: {...made.difference, header}};
  }

  /**
   * Continues after a block whose trie is in `nodes`.
   *
   * @throws ExecutionError STATE_MISSING if it is not
   */
  static async resume(options: BlockExecutorOptions, after: BlockHeader): Promise<BlockExecutor> {
    const stored = options.nodes.get(trieRootName(after.hash));
    if (stored === undefined) throw new ExecutionError("STATE_MISSING", describeMissingTrie(after.number));
    const executor = new BlockExecutor(options, after);
    await executor.state.setStateRoot(decodeTrieRoot(stored).root);
    return executor;
  }

  /** The block that the next one must follow. */
  get head(): BlockId {
    return this.last;
  }

  /**
   * Executes the block after `head` and puts the nodes that it makes.
   *
   * @param blockRlp - the whole block, as `readRlpBlocks` yields it
   * @throws ExecutionError BLOCK_INVALID naming the block and what did not match; the executor stays at `head`. StoreError
   */
  async execute(blockRlp: Uint8Array): Promise<BlockDifference> {
    const head = decodeBlockHead(blockRlp, `the block after ${this.last.number}`);
    this.checkLink(head);
    try {
      await this.run(blockRlp, head);
      const accounts = await this.state.listDifferences();
      await this.state.seal();
      putRoot(this.options.nodes, head, head.stateRoot);
      this.last = head;
      this.recent.set(head.number, head.hash);
      this.recent.delete(head.number - RECENT_BLOCKS);
      return {header: head, accounts};
    } catch (error) {
      this.state.discard();
      this.vm = undefined;
      // The store is damaged, and says nothing of the block.
      if (error instanceof StoreError) throw error;
      const code = error instanceof ExecutionError ? error.code : "BLOCK_INVALID";
      const reason = describeRefusal(error, this.refusedTransaction);
      throw new ExecutionError(code, `block ${head.number}: ${reason}`, {cause: error});
    } finally {
      this.refusedTransaction = undefined;
    }
  }

  private checkLink(head: BlockHead): void {
    const {number, hash} = this.last;
    if (head.number !== number + 1)
      throw new ExecutionError(
        "BLOCK_INVALID",
        `expected block ${number + 1} after block ${number}, got block ${head.number}`,
      );
    if (Buffer.compare(head.parentHash, hash) !== 0)
      throw new ExecutionError(
        "BLOCK_INVALID",
        `block ${head.number}: its parentHash is ${toHex(head.parentHash)}, but block ${number} has the hash ${toHex(hash)}`,
      );
  }

  private async run(blockRlp: Uint8Array, head: BlockHead): Promise<void> {
    this.moveToFork(this.options.forks.forkAt(head));
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
    checkParent(head, this.last, this.common);
    rememberTransactionsRoot(block);
    try {
      this.vm ??= await this.createVm();
      await runBlock(this.vm, {block, skipHeaderValidation: true});
    } catch (error) {
      await this.explain(block);
      throw error;
    }
    await checkSystemCode(this.common, this.state);
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
    watchSystemCalls(evm, common);
    return createVM({common, stateManager, blockchain, evm});
  }

  private findBlockHash(number: number): Uint8Array {
    const hash =
      this.recent.get(number) ??
      (number === this.last.number ? this.last.hash : this.options.blockHash(number));
    if (hash === undefined)
      throw new ExecutionError("STATE_MISSING", `the hash of block ${number} is needed but not known`);
    return hash;
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

function putRoot(nodes: TrieNodes, head: BlockHead, root: Uint8Array): void {
  nodes.put(trieRootName(head.hash), encodeTrieRoot({root, kind: "executed"}));
}

function checkField(name: string, expected: string, got: string): void {
  if (expected !== got) throw new Error(`${name}: expected ${expected} as in its header, got ${got}`);
}
