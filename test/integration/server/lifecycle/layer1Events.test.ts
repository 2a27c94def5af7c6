/** Events of layer 1 (anvil) that its nodes leave out or take back, and a contract that contradicts itself. */
import assert from "node:assert/strict";
import {rootOf} from "../../../support/chains/finalityEvents.ts";
import {Upstream} from "../../../support/http/upstream.ts";
import {createLayer1Test} from "../../../support/layer1/followedFinality.ts";
import type {Layer1} from "../../../support/layer1/rollupContract.ts";
import {checkStore} from "../../../support/stores/checkedStore.ts";
import {waitUntil} from "../../../support/wait.ts";

/** Contradictions are read three times. */
const AGAIN = 'node.*it is read again from the last recorded finalization on"';

const layer1Test = createLayer1Test();

interface Answer {
  readonly result?: unknown;
}

/** Answers with what layer 1 answers, without the events of block `lost` until `stop` is called. */
async function withProxy(
  {anvil}: Layer1,
  lost: number,
  work: (url: string, stop: () => void) => Promise<void>,
): Promise<void> {
  let isLosing = true;
  const spoil = (one: Answer): Answer => {
    if (!isLosing || !Array.isArray(one.result)) return one;
    return {...one, result: one.result.filter(({blockNumber}) => Number(blockNumber) !== lost)};
  };
  const proxy = new Upstream();
  proxy.handler = ({body}, response) => {
    void fetch(anvil.url, {method: "POST", headers: {"content-type": "application/json"}, body})
      .then(answer => answer.json() as Promise<Answer | readonly Answer[]>)
      .then(answer => {
        response.writeHead(200, {"content-type": "application/json"});
        response.end(JSON.stringify(Array.isArray(answer) ? answer.map(spoil) : spoil(answer as Answer)));
      });
  };
  await proxy.start();
  try {
    await work(proxy.url.href, () => {
      isLosing = false;
    });
  } finally {
    await proxy.stop();
  }
}

layer1Test(
  "an event that one answer leaves out is read again when the next one does not follow",
  9,
  async it => {
    await it.finalize(1, 3);
    const lost = await it.finalize(4, 5);
    await it.contract.settle();
    await withProxy(it.contract, lost, async (url, stop) => {
      it.start({}, [url]);
      await it.finalizedAt(3);
      // The mark is recorded above the event, and a restart begins there.
      await it.contract.anvil.request("anvil_mine", "0x400");
      await it.contract.settle();
      const markBlock = () => it.store.engine.chain.finalizations.readLayer1()?.mark.block ?? 0;
      await waitUntil("a mark behind the lost blocks", () => markBlock() >= lost + 1000);
      await it.restart({}, [url]);
      stop();
      await it.finalize(6, 8);
      await it.contract.settle();
      await it.finalizedAt(8);
      assert.deepEqual(it.ends, [3, 5, 8]);
      assert.match(it.log, new RegExp(AGAIN));
      assert.doesNotMatch(it.log, /finality has stopped/);
    });
  },
);

layer1Test("a node that leaves an event out is left for another one", 9, async it => {
  await it.finalize(1, 3);
  const lost = await it.finalize(4, 5);
  await it.finalize(6, 8);
  await it.contract.settle();
  await withProxy(it.contract, lost, async url => {
    it.start({}, [url, it.contract.anvil.url]);
    await it.finalizedAt(8);
    assert.deepEqual(it.ends, [3, 5, 8]);
  });
});

layer1Test(
  "a layer 1 that contradicts itself stops finality, and --l1-from begins it again behind that",
  12,
  async it => {
    await it.finalize(1, 3);
    await it.finalize(4, 5, rootOf(200));
    const good = await it.finalize(6, 7);
    await it.contract.settle();
    it.start();
    await it.logged(/finality has stopped/);
    assert.match(it.status.reason, /up to block 5 .* has state root 0xc9c9/);
    assert.equal(it.status.state, "stopped");
    assert.equal(it.finalized, 3);
    await it.restart({from: good});
    await it.finalizedAt(7);
    assert.match(it.log, new RegExp(`finality begins again at layer-1 block ${good} \\(--l1-from\\)`));
    // The same flag again goes on, and what follows must follow.
    await it.finalize(9, 10);
    await it.contract.settle();
    await it.restart({from: good});
    await it.logged(/finality has stopped/);
    assert.match(it.status.reason, /begins at block 9, but the one before it ends at block 7/);
    assert.doesNotMatch(it.log, /begins again/);
    const last = await it.finalize(11, 12);
    await it.contract.settle();
    await it.restart({from: last});
    await it.finalizedAt(12);
    assert.deepEqual(it.ends, [3, 7, 12]);
    assert.deepEqual((await checkStore(it.store.directory)).found, []);
  },
);

layer1Test(
  "layer-1 blocks that are taken back stop finality only if a recorded finalization was in them",
  9,
  async it => {
    const {anvil} = it.contract;
    const empty = await anvil.request<string>("evm_snapshot");
    it.start({depth: 0});
    await anvil.request("anvil_mine", "0x3");
    const height = async () => Number(await anvil.request("eth_blockNumber"));
    await waitUntil("all of layer 1 to be read", async () => (it.status.layer1Read ?? 0) >= (await height()));
    await anvil.request("evm_revert", empty);
    await anvil.request("evm_increaseTime", 100);
    await it.finalize(1, 2);
    await it.contract.settle();
    await it.finalizedAt(2);
    const snapshot = await anvil.request<string>("evm_snapshot");
    await it.finalize(3, 4);
    await it.finalizedAt(4);
    await anvil.request("evm_revert", snapshot);
    await anvil.request("evm_increaseTime", 100);
    await it.contract.settle();
    await it.finalize(3, 6);
    await it.logged(
      /has no finalization up to block 4 by transaction 0x\w+ any more, but that one is recorded/,
    );
    await it.logged(/finality has stopped/);
    assert.equal(it.finalized, 4);
  },
);

layer1Test(
  "--l1-from above the newest final block is waited for, and no event before it counts",
  9,
  async it => {
    const from = (await it.finalize(1, 3)) + 50;
    await it.contract.settle();
    it.start({from});
    const line = `events are read from layer-1 block ${from} on .*; waiting until layer 1 is final up to block ${from - 1}, now it is up to block \\d+"`;
    await it.logged(new RegExp(line));
    await it.contract.anvil.request("anvil_mine", "0x40");
    await it.finalize(4, 6);
    await it.contract.settle();
    await it.finalizedAt(6);
    assert.deepEqual(it.ends, [6]);
    assert.equal(it.log.match(/waiting until layer 1 is final/g)?.length, 1);
  },
);
