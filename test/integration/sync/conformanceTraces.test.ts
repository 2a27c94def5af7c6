/**
 * The public conformance chain of ../shared/data/rpc-compat, read as traces of our own execution. It has block rewards,
 * withdrawals, beacon roots and the other system contracts. Its first blocks, from before EIP-161, are taken as executed.
 */
import assert from "node:assert/strict";
import {createReadStream, existsSync, readFileSync} from "node:fs";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {createTraceReader} from "../../../sync/layer2/trace/traceReader.ts";
import {parseGenesis} from "../../../workers/execution/genesis.ts";
import {readRlpBlocks} from "../../../workers/execution/rlpBlocks.ts";
import {ExecutedNode} from "../../support/chains/executedNode.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {ComparedStores} from "../../support/stores/comparedStores.ts";

const CONFORMANCE = fileURLToPath(
  new URL("../shared/data/rpc-compat", import.meta.resolve("#package/package.json")),
);

test("the conformance chain, read as stateDiff traces, gives the roots of the executed blocks", async t => {
  if (!existsSync(CONFORMANCE)) {
    notRun(t, `${CONFORMANCE} is missing`);
    return;
  }
  const blocks: Uint8Array[] = [];
  for await (const {bytes, position} of readRlpBlocks(createReadStream(join(CONFORMANCE, "chain.rlp"))))
    if (position >= 0) blocks.push(bytes);
  const genesis = parseGenesis(readFileSync(join(CONFORMANCE, "genesis.json"), "utf8"));
  const node = await ExecutedNode.execute(genesis, blocks);
  const folder = await mkdtemp(join(tmpdir(), "proofd-trace-"));
  t.after(() => rm(folder, {recursive: true}));
  const stores = await ComparedStores.create(folder);
  t.after(() => stores.close());
  const [block0, ...differences] = node.differences;
  assert.ok(block0);
  await stores.apply(block0, block0);
  const reader = createTraceReader();
  let compared = 0;
  for (let next = 1; next <= differences.length; ) {
    const {header} = differences[next - 1] as BlockDifference;
    const {number, timestamp = 0n} = header;
    if (!genesis.forks.isActive("spuriousDragon", {number, timestamp})) {
      await stores.apply(differences[next - 1] as BlockDifference, differences[next - 1] as BlockDifference);
      next++;
      continue;
    }
    const read = await reader.read(node, next, next + reader.maxBlocks - 1);
    assert.ok(read.length > 0);
    for (const block of read) {
      await stores.apply(differences[next++ - 1] as BlockDifference, await block.difference());
      compared++;
    }
  }
  assert.ok(compared > 30, `${compared} blocks were compared`);
});
