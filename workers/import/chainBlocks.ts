/** The genesis block, then the blocks of a file: those of `geth export`, executed in order, or trie logs. */

import type {BlockId} from "../../evm/execution/blockExecutor.ts";
import {type BlockHead, decodeBlockHead} from "../../evm/execution/blockHead.ts";
import type {Genesis} from "../../evm/execution/genesis.ts";
import {makeGenesisBlock} from "../../evm/execution/genesisBlock.ts";
import {readRlpBlocks} from "../../evm/execution/rlpBlocks.ts";
import {GENESIS_ORIGIN, type SourceBlock, SourceError, throwMissing} from "../../nodes/blocks/sourceStep.ts";
import {readOn} from "../../nodes/files/readOn.ts";
import {readTrieLogLines} from "../../nodes/files/trieLogLines.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import {ChainExecution} from "./chainExecution.ts";
import {readGenesis} from "./genesisFile.ts";
import type {SourceHost} from "./sourceHost.ts";

/** Stored blocks are only compared, by hash. @throws SourceError, ExecutionError */
export async function* readChainBlocks(
  genesisPath: string,
  chunks: AsyncIterable<Uint8Array>,
  host: SourceHost,
): AsyncGenerator<SourceBlock> {
  const {execution, hash: zero} = yield* readGenesisBlock(genesisPath, host);
  const prepare = ({number, bytes}: FileBlock): void => {
    if (number > (host.writer.latest ?? -1)) execution.senders.ask(bytes);
  };
  try {
    for await (const {bytes, number, hash} of readOn(readFileBlocks(chunks, host.signal), prepare)) {
      if (number === 0) {
        if (Buffer.compare(hash, zero) !== 0)
          throw new SourceError("block 0 of the blocks file is not the genesis file's block");
        continue;
      }
      yield {
        ...({kind: "block", number, hash, origin: "the block", isExecuted: true} as const),
        difference: () => execution.execute(bytes),
      };
    }
  } finally {
    await execution.senders.close();
  }
}

interface FileBlock extends BlockId {
  readonly bytes: Uint8Array;
}

async function* readFileBlocks(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<FileBlock, void> {
  for await (const {bytes, position} of readRlpBlocks(chunks, signal)) {
    const {number, hash} = decodeBlockHead(bytes, `the block at position ${position} of the file`);
    yield {bytes, number, hash};
  }
}

/** A trie log of block 0 is only compared, by hash: that block comes from the genesis file. */
export async function* readTrieLogBlocks(
  genesisPath: string,
  chunks: AsyncIterable<Uint8Array>,
  host: SourceHost,
): AsyncGenerator<SourceBlock> {
  const {hash: zero} = yield* readGenesisBlock(genesisPath, host);
  for await (const block of readTrieLogLines(chunks, host.signal)) {
    if (block.number > 0) yield block;
    else if (Buffer.compare(block.hash, zero) !== 0)
      throw new SourceError(`line ${block.line}: block 0 of the trie logs is not the genesis file's block`);
  }
}

/** Its trie is written, unless the store has a block already. The accounts are in memory until the block is taken. */
async function* readGenesisBlock(
  path: string,
  host: SourceHost,
): AsyncGenerator<SourceBlock, {readonly execution: ChainExecution; readonly hash: Uint8Array}> {
  const genesis = (await readGenesis(path, host.signal)).parse();
  const execution = new ChainExecution(genesis.forks, host);
  const isStored = host.writer.latest !== undefined;
  const {id, difference} = isStored
    ? {id: await readGenesisHead(genesis), difference: undefined}
    : await execution.start(genesis);
  const {number, hash} = id;
  yield {
    ...{...GENESIS_ORIGIN, number, hash, chainId: genesis.chainId},
    difference: async () => difference ?? throwMissing(0),
  };
  return {execution, hash};
}

export async function readGenesisHead(genesis: Genesis): Promise<BlockHead> {
  return (await makeGenesisBlock(genesis, new MemoryTries())).head;
}
