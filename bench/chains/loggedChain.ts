/** The trie logs of a chain of blocks. The blocks are executed for them. */
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {BlockExecutor} from "../../workers/execution/blockExecutor.ts";
import {parseGenesis} from "../../workers/execution/genesis.ts";
import {readRlpBlocks} from "../../workers/execution/rlpBlocks.ts";
import type {LoggedBlock} from "./loggedBlock.ts";
import {TrieLogWriter} from "./trieLogWriter.ts";

/** Block 0 first. @param chainRlp - blocks as `geth export` writes them, from block 1 on. @param to - the last block to execute */
export async function* executeChain(
  genesisText: string,
  chainRlp: Uint8Array,
  to: number,
): AsyncGenerator<BlockDifference> {
  const nodes = new Map<string, Uint8Array>();
  const genesis = parseGenesis(genesisText);
  const {executor, difference} = await BlockExecutor.start(
    {
      forks: genesis.forks,
      nodes: {get: key => nodes.get(key), put: (key, node) => void nodes.set(key, node)},
      blockHash: () => undefined,
    },
    genesis,
  );
  yield difference;
  const chunks = (async function* () {
    yield chainRlp;
  })();
  for await (const {bytes} of readRlpBlocks(chunks, new AbortController().signal)) {
    const block = await executor.execute(bytes);
    yield block;
    if (block.header.number === to) return;
  }
}

/** Block 0 first. The parameters are those of `executeChain`. */
export async function logChain(
  genesisText: string,
  chainRlp: Uint8Array,
  to: number,
): Promise<LoggedBlock[]> {
  const logged: LoggedBlock[] = [];
  const writer = new TrieLogWriter();
  for await (const block of executeChain(genesisText, chainRlp, to))
    logged.push({number: block.header.number, hash: block.header.hash, trieLog: writer.write(block)});
  return logged;
}
