/** A geth announces its new blocks on a WebSocket, before and after it was started again. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {readLog, waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {OwnService} from "../support/http/ownService.ts";

const FORKS = {cancun: 1, prague: 1, osaka: 1};
const ANNOUNCED = "new blocks are announced by WebSocket";

let chain: EngineChain;

before(async () => {
  chain = await EngineChain.create(FORKS);
});

after(() => chain?.stop());

async function waitForSubscriptions(daemon: OwnService, count: number): Promise<void> {
  await daemon.until(`${count} subscriptions`, () => readLog(daemon, ANNOUNCED).length >= count);
}

test("the subscription is made again after a restart of the node", async () => {
  const node = await chain.addNode();
  const flags = ["--db", chain.file("db"), "--genesis", chain.genesisPath, "--source", "execute"];
  await withFollower([...flags, "--l2", node.url, "--l2", node.socketUrl], async daemon => {
    for (const restarts of [0, 1]) {
      if (restarts > 0) {
        await node.stop();
        await daemon.waitForStderr(/no node announces new blocks; the nodes are asked for them/);
        await node.restart();
      }
      await waitForSubscriptions(daemon, restarts + 1);
      assert.equal(readLog(daemon, ANNOUNCED).at(-1)?.state, "subscribed");
      await chain.seal();
      await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
    }
  });
  await node.stop();
});
