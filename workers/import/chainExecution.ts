/** Executes a chain's blocks onto the store, from the state trie of the newest one: blocks of a file, or of a node. */

import {BlockExecutor, type BlockExecutorOptions, type BlockId} from "../../evm/execution/blockExecutor.ts";
import type {BlockHead} from "../../evm/execution/blockHead.ts";
import type {ForkSchedule} from "../../evm/execution/forkSchedule.ts";
import type {Genesis} from "../../evm/execution/genesis.ts";
import {throwMissing} from "../../nodes/blocks/sourceStep.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {isSame} from "../../storage/hex.ts";
import {SendersAhead} from "./senders/sendersAhead.ts";
import type {SourceHost} from "./sourceHost.ts";

export class ChainExecution {
  private readonly options: BlockExecutorOptions;
  /** Of blocks that will be executed soon. Close it at the end. */
  readonly senders: SendersAhead;
  private executor: BlockExecutor | undefined;

  /** @param host - its signal aborts the writing of a large allocation, with Stopped */
  constructor(
    forks: ForkSchedule,
    private readonly host: SourceHost,
  ) {
    const {writer, signal, onEvent} = host;
    this.options = {
      forks,
      store: writer.batch,
      signal,
      blockHash: number => writer.blockHash(number),
      findSender: (block, position) => this.senders.find(block, position),
    };
    this.senders = new SendersAhead(forks.chainId, reason => onEvent({kind: "senders", reason}));
  }

  /** Block 0. @param chainHead - see BlockExecutor.start */
  async start(
    genesis: Genesis,
    chainHead?: BlockHead,
  ): Promise<{id: BlockId; chainId: bigint; difference: BlockDifference}> {
    const {executor, difference} = await BlockExecutor.start(this.options, genesis, chainHead);
    this.executor = executor;
    return {id: executor.head, chainId: genesis.chainId, difference};
  }

  /** Executes the block after the newest one. @throws ExecutionError, SourceError */
  async execute(blockRlp: Uint8Array): Promise<BlockDifference> {
    const executor = this.openExecutor();
    this.executor = executor;
    try {
      return await executor.execute(blockRlp);
    } finally {
      this.senders.drop(blockRlp);
    }
  }

  private openExecutor(): BlockExecutor {
    const {executor} = this;
    const {newest = throwMissing(0), trie} = this.host.writer;
    // After a rollback it may be ahead of the chain, or have pages that were removed.
    if (executor !== undefined && executor.trieOfHead.page === trie?.page) {
      const {number, hash} = executor.head;
      if (number === newest.number && isSame(hash, newest.hash)) return executor;
    }
    return BlockExecutor.resume(this.options, newest, trie);
  }
}
