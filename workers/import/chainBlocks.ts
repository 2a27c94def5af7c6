/**
 * Blocks from a chain: geth's genesis and the blocks that `geth export` writes, executed one after the other.
 */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {BlockExecutor, type BlockExecutorOptions, type BlockId} from "../execution/blockExecutor.ts";
import {decodeBlockHead} from "../execution/blockHead.ts";
import {type Genesis, parseGenesis} from "../execution/genesis.ts";
import {makeGenesisBlock} from "../execution/genesisBlock.ts";
import {readRlpBlocks} from "../execution/rlpBlocks.ts";
import {type SourceBlock, SourceError, Stopped} from "./sourceBlock.ts";

/**
 * Blocks that are in the store are only compared, by hash. Execution continues after the newest one, from the trie nodes
 * stored with it.
 *
 * @param writer - returns the writer of the store, which a rollback replaces
 * @throws SourceError, ExecutionError
 */
export async function* readChainBlocks(
  genesisText: string,
  chunks: AsyncIterable<Uint8Array>,
  writer: () => BlockWriter,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  const genesis = parseGenesis(genesisText);
  const options: BlockExecutorOptions = {
    genesis,
    nodes: {
      get: key => writer().readExecutionNode(key),
      put: (key, value) => writer().putExecutionNode(key, value),
      // The key of a node is its hash, so nodes may be written before their block.
      settle: async () => {
        if (signal.aborted) throw new Stopped();
        if (writer().isFull) await writer().flush();
      },
    },
    blockHash: number => writer().blockHash(number),
  };
  let executor: BlockExecutor | undefined;
  let genesisId: BlockId;
  if (writer().latest === undefined) {
    const start = await BlockExecutor.start(options);
    executor = start.executor;
    genesisId = executor.head;
    yield {...genesisId, chainId: genesis.chainId, difference: async () => start.difference};
  } else {
    genesisId = await readGenesisId(genesis);
    yield {...genesisId, chainId: genesis.chainId, difference: () => neverHeld(0)};
  }
  for await (const {bytes, position} of readRlpBlocks(chunks, signal)) {
    const {number, hash} = decodeBlockHead(bytes, `the block at position ${position} of the file`);
    if (number === 0) {
      if (Buffer.compare(hash, genesisId.hash) !== 0)
        throw new SourceError("block 0 of the blocks file is not the genesis file's block");
      continue;
    }
    const difference = async (): Promise<BlockDifference> => {
      // A rollback leaves the executor ahead of the chain.
      if (executor === undefined || executor.head.number !== writer().latest)
        executor = await BlockExecutor.resume(options, newest(writer()));
      return executor.execute(bytes);
    };
    yield {number, hash, difference};
  }
}

/** Block 0's number and hash; keeps none of its nodes. */
async function readGenesisId(genesis: Genesis): Promise<BlockId> {
  const nodes = new Map<string, Uint8Array>();
  const {head} = await makeGenesisBlock(genesis, {
    get: key => nodes.get(key),
    put: (key, value) => void nodes.set(key, value),
  });
  return {number: head.number, hash: head.hash};
}

function newest(writer: BlockWriter): BlockId {
  const number = writer.latest;
  const hash = number === undefined ? undefined : writer.blockHash(number);
  return number === undefined || hash === undefined ? neverHeld(number ?? 0) : {number, hash};
}

function neverHeld(block: number): never {
  throw new SourceError(`block ${block} is not held, although blocks after it are`);
}
