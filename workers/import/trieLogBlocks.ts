/** Blocks from trie logs, after the block of a genesis file where one is given. */
import {parseGenesis} from "../execution/genesis.ts";
import {makeGenesisBlock} from "../execution/genesisBlock.ts";
import {type SourceBlock, SourceError} from "./sourceBlock.ts";
import {readTrieLogLines} from "./trieLogLines.ts";

/**
 * A trie log of block 0 is only compared, by hash: the genesis file says what is in that block. Its trie nodes are not kept.
 *
 * @throws SourceError, ExecutionError
 */
export async function* readTrieLogBlocks(
  genesisText: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<SourceBlock> {
  const genesis = parseGenesis(genesisText);
  const nodes = new Map<string, Uint8Array>();
  const {head, difference} = await makeGenesisBlock(genesis, {
    get: key => nodes.get(key),
    put: (key, value) => void nodes.set(key, value),
  });
  const {number, hash} = head;
  yield {number, hash, chainId: genesis.chainId, difference: async () => difference};
  for await (const block of readTrieLogLines(chunks, signal)) {
    if (block.number > 0) yield block;
    else if (Buffer.compare(block.hash, hash) !== 0)
      throw new SourceError(`line ${block.line}: block 0 of the trie logs is not the genesis file's block`);
  }
}
