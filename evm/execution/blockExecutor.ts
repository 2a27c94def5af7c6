/**
 * Executes the blocks of a chain in order, and returns the state changes of each.
 *
 * A block is accepted if its header follows from its parent's (parentCheck.ts) and execution yields the gas used,
 * receipts root, logs bloom, requests hash and state root of the header. Consensus fields (seals, difficulty) are not
 * verified.
 *
 *   from berlin on   the EVM of ../interpreter
 *   before           @ethereumjs, on the state of the same EVM (libraryExecution.ts)
 */
import type {BlockDifference, BlockHeader} from "../../storage/block/blockDifference.ts";
import type {BlockTrie} from "../../storage/block/blockTrie.ts";
import {StateTrie} from "../../storage/commit/stateTrie.ts";
import {StoreError} from "../../storage/errors.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpError} from "../../storage/rlp/rlpReader.ts";
import type {TrieRoot} from "../../storage/trie/trie.ts";
import type {TrieStore} from "../../storage/trie/trieStore.ts";
import {Evm} from "../interpreter/evm.ts";
import {type EvmRules, rulesOf} from "../interpreter/rules.ts";
import {type DecodedBlock, decodeBlock} from "./block/decodedBlock.ts";
import {type BlockHead, decodeBlockHead} from "./blockHead.ts";
import {ChainState, listDifferences} from "./chainState.ts";
import {describeMissingTrie, ExecutionError} from "./executionError.ts";
import type {ForkSchedule} from "./forkSchedule.ts";
import type {Genesis} from "./genesis.ts";
import {makeGenesisBlock} from "./genesisBlock.ts";
import type {LibraryExecution} from "./libraryExecution.ts";
import {checkParent} from "./parentCheck.ts";
import {blobBaseFee} from "./rules/fees.ts";
import {forkRules} from "./rules/forkRules.ts";
import {compare, runBlock} from "./run/blockRun.ts";

export interface BlockExecutorOptions {
  readonly forks: ForkSchedule;
  /** Stores the tries. Reads must return what was put before, also if it is not yet on disk. */
  readonly store: TrieStore;
  /** Ends the writing of a large genesis allocation. */
  readonly signal?: AbortSignal;
  /** Hash of a stored block, for BLOCKHASH. Called only for blocks before the one that this executor started from. */
  readonly blockHash: (number: number) => Uint8Array | undefined;
  /** The sender, if it was recovered in advance; otherwise it is recovered when the transaction runs. */
  readonly findSender?: ((blockRlp: Uint8Array, position: number) => Uint8Array | undefined) | undefined;
}

export interface BlockId {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

/** Blocks that BLOCKHASH can reach. */
const RECENT_BLOCKS = 256;

export class BlockExecutor {
  /** The state trie after the last block. */
  private readonly trie: StateTrie;
  private readonly state: ChainState;
  /** Both are discarded after a failure, which may leave them in an inconsistent state. */
  private evm: Evm | undefined;
  private library: LibraryExecution | undefined;
  /** Hashes of the block that it started from and of those that it executed. */
  private readonly recent = new Map<number, Uint8Array>();

  /** @param trie - the state after `last` */
  private constructor(
    private readonly options: BlockExecutorOptions,
    private last: BlockHeader,
    trie: TrieRoot,
  ) {
    this.recent.set(last.number, last.hash);
    this.trie = new StateTrie(options.store, trie);
    this.state = new ChainState(options.store, this.trie, number => this.findBlockHash(number));
  }

  /**
   * Starts at block 0, and writes the state trie of the genesis allocation, on which block 1 is executed.
   *
   * @param chainHead - the chain's block 0, if its header is not the genesis file's. @returns `difference` - block 0
   */
  static async start(
    options: BlockExecutorOptions,
    genesis: Genesis,
    chainHead?: BlockHead,
  ): Promise<{executor: BlockExecutor; difference: BlockDifference}> {
    const {head, difference, trie} = await makeGenesisBlock(genesis, options.store, options.signal);
    const header = chainHead ?? head;
    const executor = new BlockExecutor(options, header, trie);
    return {executor, difference: {...difference, header, trie: executor.trieOfHead}};
  }

  /** Continues after a block, from its state trie. @throws ExecutionError STATE_MISSING if the store lacks it */
  static resume(
    options: BlockExecutorOptions,
    after: BlockHeader,
    trie: TrieRoot | undefined,
  ): BlockExecutor {
    if (trie === undefined) throw new ExecutionError("STATE_MISSING", describeMissingTrie(after.number));
    return new BlockExecutor(options, after, trie);
  }

  /** The block that the next one must follow. */
  get head(): BlockId {
    return this.last;
  }

  get trieOfHead(): BlockTrie {
    return {...this.trie.newest, isExecuted: true};
  }

  /**
   * Executes the block after `head`, and writes the trie pages that it changes.
   *
   * @throws ExecutionError BLOCK_INVALID that names the mismatch: the executor stays at `head`; StoreError
   */
  async execute(blockRlp: Uint8Array): Promise<BlockDifference> {
    const head = decodeBlockHead(blockRlp, `the block after ${this.last.number}`);
    this.checkLink(head);
    const evm = this.evm ?? new Evm();
    if (this.evm === undefined) evm.moveTo(this.state);
    this.evm = evm;
    try {
      await this.run(evm, blockRlp, head);
      const accounts = listDifferences(evm);
      compare("state root", head.stateRoot, this.trie.change(accounts));
      this.trie.seal();
      this.state.clearCache();
      evm.seal();
      this.last = head;
      this.recent.set(head.number, head.hash);
      this.recent.delete(head.number - RECENT_BLOCKS);
      return {header: head, accounts, trie: this.trieOfHead};
    } catch (error) {
      this.trie.drop();
      this.state.clearCache();
      this.evm = undefined;
      this.library = undefined;
      // The store is damaged, which does not mean that the block is invalid.
      if (error instanceof StoreError) throw error;
      const code = error instanceof ExecutionError ? error.code : "BLOCK_INVALID";
      // @ethereumjs appends its own state to messages, in parentheses.
      const reason = (error as Error).message.replace(/ \((vm|block|tx) .*$/s, "");
      throw new ExecutionError(code, `block ${head.number}: ${reason}`, {cause: error});
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

  private async run(evm: Evm, blockRlp: Uint8Array, head: BlockHead): Promise<void> {
    const {forks} = this.options;
    const fork = forks.forkAt(head);
    const rules = rulesOf(fork);
    if (rules !== undefined) return this.runOwn(evm, blockRlp, head, fork, rules);
    // Loaded on demand: its modules take a third of a second, and most chains have no block before berlin.
    const {LibraryExecution} = await import("./libraryExecution.ts");
    const findHash = (number: number): Uint8Array => this.findBlockHash(number);
    this.library ??= new LibraryExecution(forks, evm, this.trie, findHash);
    await this.library.run(blockRlp, head, fork, this.last);
  }

  private async runOwn(
    evm: Evm,
    blockRlp: Uint8Array,
    head: BlockHead,
    fork: string,
    evmRules: EvmRules,
  ): Promise<void> {
    const {forks, findSender} = this.options;
    const {chainId} = forks;
    const block = this.decode(blockRlp, head, fork);
    checkParent(head, this.last, forks, fork);
    const {excessBlobGas, coinbase, baseFee} = block.header;
    const blobFee = excessBlobGas === undefined ? 0n : blobBaseFee(excessBlobGas, forks.blobLimits(fork));
    const fees = {chainId, coinbase, baseFee, blobBaseFee: blobFee};
    evm.setBlock(evmRules, {...block.header, ...fees});
    const senderAt = (position: number): Uint8Array | undefined => findSender?.(blockRlp, position);
    await runBlock(evm, block, {forks, fork, rules: forkRules(fork), senderAt, ...fees});
  }

  /** Errors name the fork, since a wrong number or timestamp selects a fork with another block format. */
  private decode(blockRlp: Uint8Array, head: BlockHead, fork: string): DecodedBlock {
    const {forks} = this.options;
    try {
      return decodeBlock(blockRlp, head, forkRules(fork), forks.chainId, forks.isClique);
    } catch (error) {
      if (error instanceof RlpError)
        error.message += `: by its number ${head.number} and timestamp ${head.timestamp} it is a block of ${fork}`;
      throw error;
    }
  }

  private findBlockHash(number: number): Uint8Array {
    const hash = this.recent.get(number) ?? this.options.blockHash(number);
    if (hash === undefined)
      throw new ExecutionError(
        "STATE_MISSING",
        `the hash of block ${number} is needed but not available: the store begins after it`,
      );
    return hash;
  }
}
