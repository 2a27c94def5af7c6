/** Blocks from trie logs, after the block of a genesis file. */
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {parseGenesis} from "../execution/genesis.ts";
import {readGenesisBlock} from "./chainBlocks.ts";
import {ChainExecution} from "./chainExecution.ts";
import {type SourceBlock, SourceError} from "./sourceBlock.ts";
import {readTrieLogLines} from "./trieLogLines.ts";

/**
 * A trie log of block 0 is only compared, by hash: the genesis file says what is in that block.
 *
 * @param writer - returns the writer of the store, which a rollback replaces
 * @throws SourceError, ExecutionError
 */
export async function* readTrieLogBlocks(
  genesisText: string,
  chunks: AsyncIterable<Uint8Array>,
  writer: () => BlockWriter,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  const genesis = parseGenesis(genesisText);
  const zero = await readGenesisBlock(genesis, new ChainExecution(genesis.forks, writer, signal), writer);
  yield zero;
  for await (const block of readTrieLogLines(chunks, signal)) {
    if (block.number > 0) yield block;
    else if (Buffer.compare(block.hash, zero.hash) !== 0)
      throw new SourceError(`line ${block.line}: block 0 of the trie logs is not the genesis file's block`);
  }
}
