/**
 * Executing blocks of a file in process, their state's trie included, without a store: the processor's time of all threads. It needs
 * no store of the bench, and anvil, which makes the blocks.
 */

import {Readable} from "node:stream";
import {BlockExecutor} from "../../workers/execution/blockExecutor.ts";
import {parseGenesis} from "../../workers/execution/genesis.ts";
import {readRlpBlocks} from "../../workers/execution/rlpBlocks.ts";
import {AnvilNode, TRANSACTIONS_PER_BLOCK} from "../follow/anvilNode.ts";
import {Yardstick} from "../program/yardstick.ts";
import type {StageFigure} from "./benchRun.ts";

/** Of the blocks, before the measured ones. */
const WARM_UP_PART = 0.4;
const MOST_BLOCKS = 500;
const HASHES_PER_LOOK = 50;

/**
 * @param blocks - of the chain; more than MOST_BLOCKS are not made
 * @throws Error if anvil is not installed
 */
export async function* measureExecution(
  _suite: string,
  blocks: number,
): AsyncGenerator<StageFigure, undefined> {
  const {genesis, chain} = await makeChain(Math.min(blocks, MOST_BLOCKS));
  const held = new Map<string, Uint8Array>();
  const nodes = {
    get: (key: string) => held.get(key),
    put: (key: string, value: Uint8Array) => void held.set(key, value),
  };
  const {executor} = await BlockExecutor.start(
    {forks: genesis.forks, nodes, blockHash: () => undefined},
    genesis,
  );
  const warmUps = Math.floor(chain.length * WARM_UP_PART);
  for (const block of chain.slice(0, warmUps)) await executor.execute(block);
  const measured = chain.slice(warmUps);
  const yardstick = new Yardstick(HASHES_PER_LOOK, 0);
  let cpuUs = 0;
  let wallMs = 0;
  for (const block of measured) {
    yardstick.lookIfDue();
    const before = process.cpuUsage();
    const startMs = performance.now();
    await executor.execute(block);
    wallMs += performance.now() - startMs;
    const {user, system} = process.cpuUsage(before);
    cpuUs += user + system;
  }
  const name = `a block of ${TRANSACTIONS_PER_BLOCK} transfers`;
  const blockUs = cpuUs / measured.length;
  yield {name: `${name}, CPU`, value: blockUs / 1000, unit: "ms"};
  yield {name: `${name}, CPU`, value: blockUs / yardstick.medianUs, unit: "yardsticks"};
  yield {name: "blocks executed", value: (1000 * measured.length) / wallMs, unit: "per second"};
}

async function makeChain(length: number) {
  const node = await AnvilNode.start();
  try {
    for (let block = 0; block < length; block++) await node.mine();
    const chain: Uint8Array[] = [];
    for await (const {bytes} of readRlpBlocks(Readable.from([await node.readChain(length)])))
      chain.push(bytes);
    return {genesis: parseGenesis(node.genesis), chain};
  } finally {
    await node.stop();
  }
}
