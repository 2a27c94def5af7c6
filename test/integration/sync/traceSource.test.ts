/**
 * Blocks read as traces against the same blocks executed here: all accounts, the root of the state that the header names, and
 * the roots of two stores, block by block. anvil makes the blocks and the traces.
 */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {type TestContext, test} from "node:test";
import {probeTraces, type TraceMethod} from "../../../sync/node/trace/traceMethod.ts";
import {createTraceReader} from "../../../sync/node/trace/traceReader.ts";
import {AnvilChain} from "../../support/chains/anvilChain.ts";
import {HttpNode} from "../../support/chains/httpNode.ts";
import {DELEGATION_TRAFFIC, STATE_TRAFFIC} from "../../support/chains/stateTraffic.ts";
import {ComparedStores} from "../../support/stores/comparedStores.ts";

for (const method of ["prestate", "stateDiff"] as const)
  for (const fork of ["london", "cancun", "prague"])
    test(`blocks of ${fork} read as ${method} traces give the roots of the executed blocks`, t =>
      compareTraffic(t, fork, method));

test("anvil is found to have prestateTracer", async t => {
  const chain = await startChain(t, "prague");
  if (chain === undefined) return;
  assert.equal(await probeTraces(new HttpNode(chain.anvil.url)), "prestate");
});

async function compareTraffic(t: TestContext, fork: string, method: TraceMethod): Promise<void> {
  const chain = await startChain(t, fork);
  if (chain === undefined) return;
  const folder = await createFolder(t);
  const stores = await ComparedStores.create(folder);
  t.after(() => stores.close());
  const node = new HttpNode(chain.anvil.url);
  const reader = createTraceReader({method});
  await stores.apply(chain.block0, chain.block0);
  let number = 0;
  for (const [title, transactions] of [...STATE_TRAFFIC, ...(fork === "prague" ? DELEGATION_TRAFFIC : [])]) {
    const {executed} = await chain.mine(transactions);
    const [block, ...others] = await reader.read(node, ++number, number);
    assert.ok(block);
    assert.equal(others.length, 0);
    try {
      await stores.apply(executed, await block.difference());
    } catch (error) {
      throw new Error(`block ${number}: ${title}`, {cause: error});
    }
  }
  assert.deepEqual(await reader.read(node, number + 1, number + 2), []);
}

async function startChain(t: TestContext, fork: string): Promise<AnvilChain | undefined> {
  const chain = await AnvilChain.start(await createFolder(t), fork);
  if (typeof chain !== "string") {
    t.after(() => chain.anvil.stop());
    return chain;
  }
  t.diagnostic(`NOT CHECKED against a real node: ${chain}`);
  t.skip(chain);
  return undefined;
}

async function createFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "proofd-trace-"));
  t.after(() => rm(folder, {recursive: true}));
  return folder;
}
