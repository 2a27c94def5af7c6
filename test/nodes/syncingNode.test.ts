/** A geth that has block 0 only: proofd waits, or follows another node, until it has synced. In this order. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {waitForHead} from "../support/http/followingDaemon.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const SOURCES = ["execute", "trace"];
const FORKS = {cancun: 1, prague: 1, osaka: 1};
const BLOCKS = 24;
const HELD = 10;
const STRANGER = `0x${"5a".repeat(20)}`;

let chain: EngineChain;
let synced: RealNode;
let syncing: RealNode;

before(async () => {
  chain = await EngineChain.create(FORKS);
  for (let block = 1; block <= BLOCKS; block++)
    await chain.seal({transactions: [{to: STRANGER, value: BigInt(block)}]});
  synced = await chain.addNode();
  syncing = await chain.createNode(["--maxpeers", "5"]);
  assert.equal(await chain.announce(syncing), false);
  assert.equal(Number(await syncing.request("eth_blockNumber")), 0);
});

after(() => chain?.stop());

for (const source of SOURCES)
  for (const isFirst of [true, false])
    test(`by ${source}, a synced node is followed that is ${isFirst ? "after" : "before"} it in the list`, async () => {
      const urls = isFirst ? [syncing.url, synced.url] : [synced.url, syncing.url];
      await withFollower(chain.flagsOf(`${source}-${isFirst}`, source, ...urls), async daemon => {
        await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
        assert.doesNotMatch(daemon.stderr, /the import failed/);
      });
    });

test("alone it is waited for, nothing is removed, and its blocks are read as it gets them", async () => {
  const [executed = [], traced = []] = SOURCES.map(source =>
    chain.flagsOf(`alone-${source}`, source, syncing.url),
  );
  for (const flags of [executed, traced])
    assert.ok((await importHere([...flags, "--l2", synced.url, "--to", `${HELD}`])).ok);
  await withFollower(chain.flagsOf("empty", "execute", syncing.url), empty =>
    withFollower(executed, first =>
      withFollower(traced, async second => {
        await waitForHead(empty, 0);
        for (const daemon of [first, second]) {
          await daemon.waitForStderr(
            /"state":"waiting","reason":"\S+: its newest block is 0, block 10 is in the store"/,
          );
          await waitForHash(daemon, HELD, chain.hashOf(HELD));
        }
        await chain.sync(syncing);
        for (const daemon of [empty, first, second]) {
          await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
          assert.equal(await daemon.readMetric("proofd_source_reorganisations_total"), 0);
          assert.doesNotMatch(daemon.stderr, /the import failed/);
        }
      }),
    ),
  );
});
