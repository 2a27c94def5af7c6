/**
 * Executing blocks: in process, without a store, their state's trie included; then `proofd import` of the same blocks from a file
 * into a new store. It needs no store of the bench, and anvil, which makes the blocks.
 */
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Readable} from "node:stream";
import {BlockExecutor} from "../../workers/execution/blockExecutor.ts";
import {parseGenesis} from "../../workers/execution/genesis.ts";
import {readRlpBlocks} from "../../workers/execution/rlpBlocks.ts";
import {AnvilNode, TRANSACTIONS_PER_BLOCK} from "../follow/anvilNode.ts";
import {measureImport} from "../follow/catchUp.ts";
import {Yardstick} from "../program/yardstick.ts";
import type {StageFigure} from "./benchRun.ts";

/** Of the blocks, before the measured ones. */
const WARM_UP_PART = 0.4;
const MOST_BLOCKS = 500;
const HASHES_PER_LOOK = 50;
const BLOCK = `a block of ${TRANSACTIONS_PER_BLOCK} transactions`;

interface Chain {
  /** geth's file. */
  readonly genesis: string;
  /** Blocks from 1 on, as `geth export` writes them. */
  readonly blocks: Uint8Array;
  readonly length: number;
}

/**
 * @param blocks - of the chain; more than MOST_BLOCKS are not made
 * @throws Error if anvil is not installed
 */
export async function* measureExecution(
  suite: string,
  blocks: number,
): AsyncGenerator<StageFigure, undefined> {
  const chain = await makeChain(Math.min(blocks, MOST_BLOCKS));
  yield* measureInProcess(chain);
  yield* measureFile(chain, suite);
}

async function* measureInProcess({genesis: text, blocks}: Chain): AsyncGenerator<StageFigure> {
  const genesis = parseGenesis(text);
  const held = new Map<string, Uint8Array>();
  const nodes = {
    get: (key: string) => held.get(key),
    put: (key: string, value: Uint8Array) => void held.set(key, value),
  };
  const {executor} = await BlockExecutor.start(
    {forks: genesis.forks, nodes, blockHash: () => undefined},
    genesis,
  );
  const chain: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(Readable.from([blocks]))) chain.push(bytes);
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
  const blockUs = cpuUs / measured.length;
  yield {name: `${BLOCK}, CPU`, value: blockUs / 1000, unit: "ms"};
  yield {name: `${BLOCK}, CPU`, value: blockUs / yardstick.medianUs, unit: "yardsticks"};
  yield {name: "blocks executed", value: (1000 * measured.length) / wallMs, unit: "per second"};
}

async function* measureFile({genesis, blocks, length}: Chain, suite: string): AsyncGenerator<StageFigure> {
  const folder = mkdtempSync(join(tmpdir(), "proofd-execute-"));
  try {
    const genesisPath = join(folder, "genesis.json");
    const blocksPath = join(folder, "blocks.rlp");
    writeFileSync(genesisPath, genesis);
    writeFileSync(blocksPath, blocks);
    const files = ["--genesis", genesisPath, "--blocks", blocksPath];
    const imported = await measureImport(["--db", join(folder, "db"), "--suite", suite, ...files], length);
    yield {name: "import of the file", value: imported.blocksPerSecond, unit: "blocks/s"};
    yield {name: "import of the file, CPU", value: imported.ownMs, unit: "ms a block"};
  } finally {
    rmSync(folder, {recursive: true});
  }
}

async function makeChain(length: number): Promise<Chain> {
  const node = await AnvilNode.start();
  try {
    for (let block = 0; block < length; block++) await node.mine();
    return {genesis: node.genesis, blocks: await node.readChain(length), length};
  } finally {
    await node.stop();
  }
}
