/** Executes the demo chain from its genesis in this process, with its state trie in memory. */

import {createReadStream} from "node:fs";
import {fileURLToPath} from "node:url";
import {BlockExecutor} from "../../evm/execution/blockExecutor.ts";
import {readRlpBlocks} from "../../evm/execution/rlpBlocks.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import {readGenesis} from "../../workers/import/genesisFile.ts";
import type {Stage} from "./stage.ts";

export async function createExecuteStage(): Promise<Stage> {
  const pathOf = (name: string) => fileURLToPath(import.meta.resolve(`#package/demo/${name}`));
  const genesis = (await readGenesis(pathOf("genesis.json"), new AbortController().signal)).parse();
  const blocks: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(createReadStream(pathOf("chain.rlp")))) blocks.push(bytes);
  let executor: BlockExecutor;
  const beforeEach = async (): Promise<void> => {
    const store = new MemoryTries();
    const context = {forks: genesis.forks, store, blockHash: () => undefined};
    ({executor} = await BlockExecutor.start(context, genesis));
  };
  const run = async (): Promise<void> => {
    for (const block of blocks) await executor.execute(block);
  };
  return {
    tasks: [{name: "execute a block of the demo chain", units: blocks.length, run, hooks: {beforeEach}}],
  };
}
