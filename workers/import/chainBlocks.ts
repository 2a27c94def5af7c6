/**
 * Blocks from a chain: geth's genesis and the blocks that `geth export` writes, executed one after the other.
 */
import type {BlockDifference} from "../../storage/blockDifference.ts";
import type {BlockWriter} from "../../storage/blockWriter.ts";
import {BlockExecutor, type BlockExecutorOptions, type BlockId} from "../execution/blockExecutor.ts";
import {decodeBlockHead} from "../execution/blockHead.ts";
import {ExecutionError} from "../execution/errors.ts";
import {type Genesis, parseGenesis} from "../execution/genesis.ts";
import {makeGenesisBlock} from "../execution/genesisBlock.ts";
import {readRlpBlocks} from "../execution/rlpBlocks.ts";
import {type SourceBlock, SourceError} from "./sourceBlock.ts";

/**
 * Blocks that are held are only compared, by hash; execution goes on after the newest one, from the trie nodes kept
 * with it.
 *
 * @throws SourceError, ExecutionError
 */
export async function* readChainBlocks(
  genesisText: string,
  chunks: AsyncIterable<Uint8Array>,
  writer: BlockWriter,
): AsyncGenerator<SourceBlock> {
  const genesis = parseGenesis(genesisText);
  const executor = new LazyExecutor(genesis, writer);
  const genesisId = await executor.genesisId();
  yield {...genesisId, chainId: genesis.chainId, difference: () => executor.start()};
  for await (const {bytes, position} of readRlpBlocks(chunks)) {
    const {number, hash} = decodeBlockHead(bytes, `the block at position ${position} of the file`);
    if (number > 0) yield {number, hash, difference: async () => (await executor.after()).execute(bytes)};
    else if (Buffer.compare(hash, genesisId.hash) !== 0)
      throw new SourceError("block 0 of the blocks file is not the genesis file's block");
  }
}

/** The executor, made when the first block is to be executed: after block 0, or after the newest block held. */
class LazyExecutor {
  private executor: BlockExecutor | undefined;
  private readonly options: BlockExecutorOptions;
  private readonly writer: BlockWriter;

  constructor(genesis: Genesis, writer: BlockWriter) {
    this.writer = writer;
    this.options = {
      genesis,
      nodes: {
        get: key => writer.readExecutionNode(key),
        put: (key, value) => writer.putExecutionNode(key, value),
      },
      blockHash: number => writer.blockHash(number),
    };
  }

  /** Block 0's number and hash; keeps nothing. */
  async genesisId(): Promise<BlockId> {
    const discarded = new Map<string, Uint8Array>();
    const {head} = await makeGenesisBlock(this.options.genesis, {
      get: key => discarded.get(key),
      put: (key, value) => void discarded.set(key, value),
    });
    return {number: head.number, hash: head.hash};
  }

  async start(): Promise<BlockDifference> {
    const {executor, difference} = await BlockExecutor.start(this.options);
    this.executor = executor;
    return difference;
  }

  async after(): Promise<BlockExecutor> {
    const {latest} = this.writer;
    const hash = latest === undefined ? undefined : this.writer.blockHash(latest);
    if (latest === undefined || hash === undefined)
      throw new ExecutionError("STATE_MISSING", "no block is held to go on after");
    this.executor ??= await BlockExecutor.resume(this.options, {number: latest, hash});
    return this.executor;
  }
}
