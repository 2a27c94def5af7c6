/** Executes the demo chain from its genesis in this process, with its state trie in memory. */

import {readFileSync} from "node:fs";
import {Readable} from "node:stream";
import {BlockExecutor} from "../../evm/execution/blockExecutor.ts";
import {parseGenesis} from "../../evm/execution/genesis.ts";
import {readRlpBlocks} from "../../evm/execution/rlpBlocks.ts";
import {MemoryTries} from "../../storage/trie/memoryTries.ts";
import type {Stage} from "./stage.ts";

export async function createExecuteStage(): Promise<Stage> {
  const read = (name: string) => readFileSync(new URL(import.meta.resolve(`#package/demo/${name}`)));
  const genesis = parseGenesis(read("genesis.json").toString());
  const blocks: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(Readable.from([read("chain.rlp")]))) blocks.push(bytes);
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
