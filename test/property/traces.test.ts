/** Random programs on anvil: the differences from its traces, by both methods, against executing the blocks here. */
import assert from "node:assert/strict";
import {type TestContext, test} from "node:test";
import fc from "fast-check";
import {recoverAuthority} from "../../evm/execution/run/authorizations.ts";
import {TraceReader} from "../../nodes/blocks/trace/traceReader.ts";
import type {BlockDifference} from "../../storage/block/blockDifference.ts";
import {AnvilChain} from "../support/chains/anvilChain.ts";
import {callNode, withoutPrestate} from "../support/chains/httpNode.ts";
import {type RandomTraffic, randomTraffic} from "../support/chains/randomTraffic.ts";
import {notRun} from "../support/processes/notRun.ts";
import {propertyRuns} from "../support/soak.ts";
import {ComparedStores} from "../support/stores/comparedStores.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const METHODS = ["stateDiff", "prestate"] as const;
const CHAINS_PER_FORK = propertyRuns(1);

for (const fork of ["shanghai", "prague"])
  test(`blocks of random programs under ${fork} have the same roots from traces as executed`, async t => {
    const traffic = randomTraffic(fork, {minLength: 2, maxLength: 6});
    await fc.assert(
      fc.asyncProperty(traffic, random => compareChain(t, fork, random)),
      {numRuns: CHAINS_PER_FORK},
    );
  });

async function compareChain(t: TestContext, fork: string, {alloc, blocks}: RandomTraffic): Promise<void> {
  const folder = makeTemporaryFolder();
  const chain = await AnvilChain.start(folder, fork, alloc);
  if (typeof chain === "string") {
    t.diagnostic(`NOT CHECKED against a real node: ${chain}`);
    notRun(t, chain);
    return;
  }
  const stores = await ComparedStores.create(folder);
  try {
    await stores.apply(chain.block0, chain.block0);
    const anvil = callNode(chain.anvil.url);
    for (const [position, sent] of blocks.entries()) {
      const {executed} = await chain.mine(sent);
      const number = position + 1;
      const read = await Promise.all(
        METHODS.map(async method => {
          const node = method === "prestate" ? anvil : withoutPrestate(anvil);
          const reader = new TraceReader(
            recoverAuthority,
            () => true,
            () => {},
          );
          const [block] = await reader.read(node, number, number);
          assert.ok(block);
          const difference = await block.difference();
          if (stores.agree(executed, difference)) return difference;
          const again = await reader.reread(node, number);
          assert.ok(again);
          return again.difference();
        }),
      );
      await stores.apply(executed, read[position % METHODS.length] as BlockDifference);
    }
  } finally {
    await stores.close();
    await chain.anvil.stop();
  }
}
