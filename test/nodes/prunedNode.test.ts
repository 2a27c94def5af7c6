/** A geth with 128 states: `execute` needs none of them; `trace` names what is missing, or asks another node. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {EngineChain} from "../support/chains/engineChain.ts";
import {readLog, waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import type {RealNode} from "../support/processes/realNode.ts";
import {importHere} from "../support/stores/importedStore.ts";

const FORKS = {cancun: 1, prague: 1, osaka: 1};
const BLOCKS = 140;
const STRANGER = `0x${"5a".repeat(20)}`;
const FAILED = "the import failed, the service keeps serving the blocks it has";
const HINT =
  "historical state \\w+ is not available \\(-32000\\)\\. A node that is no archive node has the states of its newest blocks only";

let chain: EngineChain;
let archive: RealNode;
let pruned: RealNode;

before(async () => {
  chain = await EngineChain.create(FORKS);
  for (let block = 1; block <= BLOCKS; block++)
    await chain.seal({transactions: [{to: STRANGER, value: BigInt(block)}]});
  // With the path scheme, geth 1.17 has older states only once it has indexed them, which it does not do here.
  archive = await chain.addNode(["--state.scheme", "hash"]);
  pruned = await chain.addNode(["--gcmode", "full"]);
});

after(() => chain?.stop());

test("execute reads every block from it", async () => {
  await withFollower(chain.flagsOf("executed", "execute", pruned.url), async daemon => {
    await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
    assert.doesNotMatch(daemon.stderr, /"state":"(down|failed)"/);
  });
});

test("trace says which blocks' states are missing and what helps, once, and goes on with an archive node beside it", async () => {
  const alone = chain.flagsOf("traced", "trace", pruned.url);
  await withFollower(alone, async daemon => {
    const told = `block 1: ${pruned.url} refuses eth_getCode: ${HINT}; --source execute needs none`;
    await daemon.waitForStderr(/the import failed/);
    assert.match(readLog(daemon, FAILED)[0]?.reason as string, new RegExp(`^${told}`));
    assert.match((await daemon.get("/readyz")).text, new RegExp(told));
    // It is tried again, and not told again.
    await daemon.until(
      "two retries",
      async () => (await daemon.readMetric("proofd_import_retries_total")) >= 2,
    );
    assert.equal(readLog(daemon, FAILED).length, 1);
  });
  await withFollower([...alone, "--l2", archive.url], async daemon => {
    await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
    assert.doesNotMatch(daemon.stderr, /the import failed/);
  });
});

test("trace that begins within its states needs no other node", async () => {
  const db = chain.file("near.db");
  const flags = ["--db", db, "--genesis", chain.genesisPath, "--l2"];
  assert.ok((await importHere([...flags, archive.url, "--source", "execute", "--to", `${BLOCKS - 100}`])).ok);
  await withFollower([...flags, pruned.url, "--source", "trace"], async daemon => {
    await waitForHash(daemon, BLOCKS, chain.hashOf(BLOCKS));
    assert.doesNotMatch(daemon.stderr, /"state":"(down|failed)"/);
  });
});
