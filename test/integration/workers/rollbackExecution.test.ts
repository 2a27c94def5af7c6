/** A chain that is executed from a pipe, rolled back in the middle: execution goes on after the block that is the newest then. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createReadStream} from "node:fs";
import {open} from "node:fs/promises";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {readRlpBlocks} from "../../../evm/execution/rlpBlocks.ts";
import type {BlockSummary} from "../../../workers/chain/chainView.ts";
import {Engine} from "../../../workers/engine.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";

const folder = new WorkFolder();

test("blocks that were rolled back are executed again as they come again", async t => {
  const blocks: Uint8Array[] = [];
  for await (const {bytes} of readRlpBlocks(createReadStream(demo("chain.rlp")))) blocks.push(bytes);
  const pipe = folder.file("blocks.fifo");
  execFileSync("mkfifo", [pipe]);
  const writer = await open(pipe, "r+");
  const directory = folder.file("db");
  const engine = await Engine.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
  const {chain} = engine;
  /** Feeds blocks `first` to `last`. */
  const feed = async (first: number, last: number): Promise<BlockSummary> => {
    const held = new Promise<void>(resolve => chain.onChange(head => head.latest === last && resolve()));
    await writer.write(Buffer.concat(blocks.slice(first - 1, last)));
    await held;
    return chain.readBlock(last) as BlockSummary;
  };
  t.after(() => engine.close());
  const source = {kind: "blocks", genesisPath: demo("genesis.json"), blocksPath: pipe} as const;
  const {outcome} = engine.startImport({source, allowUnverified: false}, () => {});
  const first = await feed(1, 3);
  assert.deepEqual(await engine.writes.rollback(1), {earliest: 0, finalized: undefined, latest: 1});
  assert.deepEqual(await feed(2, 3), first);
  await feed(4, 4);
  await writer.close();
  const ended = await outcome;
  assert.ok(ended.ok, ended.ok ? "" : ended.message);
  assert.equal(ended.blocks, 5);
});

function demo(name: string): string {
  return fileURLToPath(import.meta.resolve(`#package/demo/${name}`));
}
