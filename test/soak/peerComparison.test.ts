/** The comparison of `npm run bench:peers` runs from end to end. */
import assert from "node:assert/strict";
import {readdir} from "node:fs/promises";
import {test} from "node:test";
import {findAnvil} from "../../bench/peers/anvil.ts";
import {writeReport} from "../../bench/peers/comparison.ts";
import {findGeth} from "../../bench/peers/gethChain.ts";
import type {PeerFlags} from "../../bench/peers/peerFlags.ts";
import {PEER_NAMES} from "../../bench/peers/peerLoads.ts";
import {comparePeers} from "../../bench/peers/peersRun.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const FEW: PeerFlags = {
  accounts: 1000,
  blocks: 1,
  warmUp: 0,
  duration: 2,
  rounds: 1,
  only: ["account", "batch", "erc20", "ethOld", "call"],
  servers: PEER_NAMES,
};

test("the comparison measures each load on the servers there are, and says so where anvil or geth is missing", async t => {
  const own = process.cwd();
  const said: string[] = [];
  const folder = makeTemporaryFolder();
  process.chdir(folder);
  t.mock.method(process.stderr, "write", (text: string) => said.push(text) > 0);
  try {
    const figures = await comparePeers(FEW, "a test");
    const hasAnvil = findAnvil() !== undefined;
    assert.equal(/ANVIL IS NOT INSTALLED/.test(said.join("")), !hasAnvil);
    const hasGeth = findGeth() !== undefined;
    assert.equal(/GETH IS NOT INSTALLED/.test(said.join("")), !hasGeth);
    assert.deepEqual(await readdir("."), ["bench-data"], "nothing lies where the service's store would");
    const rows = figures.map(({load, peer}) => `${load} ${peer}`);
    // anvil makes no batches.
    const all = ["account proofd", "account anvil", "batch proofd"];
    const missing = [...(hasAnvil ? [] : ["anvil"]), ...(hasGeth ? [] : ["geth"])];
    const estimates = ["erc20 proofd", "erc20 anvil"];
    const others = ["ethOld proofd", "ethOld geth", "call proofd", "call anvil", "call geth"];
    const expected = [...all, ...estimates, ...others];
    assert.deepEqual(
      rows,
      expected.filter(row => !missing.some(peer => row.endsWith(` ${peer}`))),
    );
    assert.equal(writeReport(figures).match(/^\| .+ \| (proofd|anvil|geth) /gm)?.length, rows.length);
  } finally {
    process.chdir(own);
  }
});
