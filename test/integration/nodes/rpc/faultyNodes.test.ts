/** Nodes against anvil, a real node, behind a proxy that spoils its answers. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {type Node, NodeFailure} from "../../../../nodes/rpc/node.ts";
import {Nodes, type NodesEvent} from "../../../../nodes/rpc/nodes.ts";
import {FAULTS, type Fault} from "../../../support/nodes/fault.ts";
import {FaultyProxy} from "../../../support/nodes/faultyProxy.ts";
import {Anvil} from "../../../support/processes/anvil.ts";
import {notRun} from "../../../support/processes/notRun.ts";
import {waitUntil} from "../../../support/wait.ts";

/** Where it must not be over, on any machine. */
const TIMEOUT_MS = 3_600_000;
const BLOCKS = 20;
const CHAIN_ID = 31_337n;
/** Faults that make an answer useless. */
const USELESS = FAULTS.filter(fault => fault !== "delay" && fault !== "otherChain");

interface HeldBlock {
  readonly hash: string;
  readonly parentHash: string;
}

/** Reads blocks one by one and in a batch, and refuses what cannot be: as a source of blocks does. */
async function readHashes(node: Node): Promise<string[]> {
  const numbers = Array.from({length: BLOCKS}, (_, at) => `0x${at.toString(16)}`);
  const calls = numbers.map(number => ({method: "eth_getBlockByNumber", params: [number, false]}));
  const blocks = (await node.requestAll(calls)) as (HeldBlock | null)[];
  const last = (await node.request("eth_getBlockByNumber", [numbers.at(-1), false])) as HeldBlock | null;
  const hashes: string[] = [];
  for (const block of [...blocks, last]) {
    if (block === null) throw new NodeFailure("a block is missing");
    if (hashes.length > 0 && hashes.length < BLOCKS && block.parentHash !== hashes.at(-1))
      throw new NodeFailure("a block has another parent");
    hashes.push(block.hash);
  }
  if (hashes.pop() !== hashes.at(-1)) throw new NodeFailure("the last block has two hashes");
  return hashes;
}

describe("nodes behind a faulty proxy", () => {
  let node: Anvil;
  /** Why there is no anvil. */
  let lack: string | undefined;
  let hashes: string[];

  before(async () => {
    const anvil = await Anvil.start([]);
    if (typeof anvil === "string") {
      lack = anvil;
      return;
    }
    node = anvil;
    await node.request("anvil_mine", "0x20");
    const blocks = Array.from({length: BLOCKS}, (_, at) =>
      node.request<HeldBlock>("eth_getBlockByNumber", `0x${at.toString(16)}`, false),
    );
    hashes = (await Promise.all(blocks)).map(({hash}) => hash);
  });

  after(async () => {
    if (lack === undefined) await node.stop();
  });

  async function withNodes(
    proxies: readonly FaultyProxy[],
    work: (nodes: Nodes, events: NodesEvent[]) => Promise<void>,
  ): Promise<void> {
    const events: NodesEvent[] = [];
    const urls = proxies.map(({url}) => url);
    const settings = {urls, headers: {}, chainId: CHAIN_ID, timeoutMs: TIMEOUT_MS, maxAnswerBytes: 2 ** 20};
    const nodes = new Nodes(settings, event => events.push(event), {firstMs: 1, longestMs: 8});
    try {
      await work(nodes, events);
    } finally {
      await nodes.close();
      for (const proxy of proxies) await proxy.stop();
    }
  }

  function startProxy(seed: number, share: number, faults: readonly Fault[] = FAULTS): Promise<FaultyProxy> {
    return FaultyProxy.start({target: node.url, seed, share, faults, delayMs: 2});
  }

  test("whatever the faults of two proxies, only right answers come through", async t => {
    if (lack !== undefined) return notRun(t, lack);
    for (const seed of [1, 2, 3]) {
      const proxies = [await startProxy(seed, 0.4), await startProxy(seed + 100, 0.4)];
      await withNodes(proxies, async nodes => {
        const {signal} = new AbortController();
        for (let at = 0; at < 15; at++) assert.deepEqual(await nodes.use(readHashes, signal), hashes);
        const works = Array.from({length: 5}, () => nodes.use(readHashes, signal));
        for (const read of await Promise.all(works)) assert.deepEqual(read, hashes);
        assert.ok(proxies.some(({faultCount}) => faultCount > 0));
      });
    }
  });

  test("each fault alone stops the work until it is turned off", async t => {
    if (lack !== undefined) return notRun(t, lack);
    for (const fault of USELESS) {
      const proxy = await startProxy(1, 1, [fault]);
      await withNodes([proxy], async (nodes, events) => {
        const read = nodes.use(readHashes, new AbortController().signal);
        await waitUntil(
          `three times ${fault}`,
          () => proxy.counts[fault] >= 3 && events.at(-1)?.state === "down",
        );
        proxy.share = 0;
        assert.deepEqual(await read, hashes);
        assert.equal(events.at(-1)?.state, "up");
      });
    }
  });

  test("behind a proxy that says another chain the node is refused, until it says the right one", async t => {
    if (lack !== undefined) return notRun(t, lack);
    const proxy = await startProxy(1, 1, ["otherChain"]);
    await withNodes([proxy], async (nodes, events) => {
      const read = nodes.use(readHashes, new AbortController().signal);
      await waitUntil("two answers of another chain", () => proxy.counts.otherChain >= 2);
      assert.deepEqual(
        events.map(({state, reason}) => [state, reason]),
        [["refused", "expected a node of chain 31337, got chain 57005"]],
      );
      proxy.share = 0;
      assert.deepEqual(await read, hashes);
    });
  });

  test("the same seed chooses the same faults", async t => {
    if (lack !== undefined) return notRun(t, lack);
    const counts: Record<Fault, number>[] = [];
    for (let run = 0; run < 2; run++) {
      const proxy = await startProxy(7, 0.5);
      for (let at = 0; at < 60; at++) {
        const method = ["eth_chainId", "eth_blockNumber"][at % 2];
        const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params: []});
        // A cut connection is an error here.
        await fetch(proxy.url, {method: "POST", body})
          .then(response => response.text())
          .catch(() => {});
      }
      assert.equal(proxy.requestCount, 60);
      counts.push(proxy.counts);
      await proxy.stop();
    }
    assert.deepEqual(counts[0], counts[1]);
    assert.ok(Object.values(counts[0] as Record<Fault, number>).filter(count => count > 0).length > 3);
  });
});
