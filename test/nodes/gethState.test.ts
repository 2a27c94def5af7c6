/** A store of tries begins with the state of a geth, and follows it by `execute` and `trace`, over a reorganisation. */
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {sendCommand} from "../../server/lifecycle/control/controlClient.ts";
import {EngineChain} from "../support/chains/engineChain.ts";
import {branchTraffic} from "../support/chains/engineTraffic.ts";
import {compareEthProofs, readTouched} from "../support/http/gethComparison.ts";
import {waitForHash, withFollower} from "../support/http/nodeFollower.ts";
import {findNode} from "../support/processes/nodePrograms.ts";
import {checkStore} from "../support/stores/checkedStore.ts";
import {importHere} from "../support/stores/importedStore.ts";

/** All of them have happened before the state. */
const FORKS = {cancun: 10, prague: 12, osaka: 14};
const FIRST = 24;
const MORE = 8;
const DEPTH = 5;

test("a store that begins with geth's state follows it, and proves the same", async t => {
  const chain = await EngineChain.create(FORKS);
  t.after(() => chain.stop());
  const node = await chain.addNode();
  for (const plan of branchTraffic(0, FIRST)) await chain.seal(plan);
  await node.stop();
  const runGeth = (...args: readonly string[]): Buffer => {
    const {status, stdout, stderr} = spawnSync(findNode("geth"), ["--datadir", chain.file("node0"), ...args]);
    assert.equal(status, 0, stderr.toString());
    return stdout;
  };
  const [state, header] = [chain.file("state.ndjson"), chain.file("headers.rlp")];
  await writeFile(state, runGeth("snapshot", "dump"));
  runGeth("export", header, "1", `${FIRST}`);
  await node.restart();
  const stores = ["execute", "trace"].map(source => [source, chain.file(`${source}.db`)] as const);
  for (const [, db] of stores) {
    const flags = ["--db", db, "--suite", "keccak", "--state", state, "--header", header];
    const outcome = await importHere([
      ...flags,
      "--head",
      chain.hashOf(FIRST),
      "--genesis",
      chain.genesisPath,
    ]);
    assert.ok(outcome.ok, outcome.ok ? "" : outcome.message);
  }
  for (const plan of branchTraffic(1, MORE, true)) await chain.seal(plan);
  const follow = (source: string, db: string, then: () => Promise<void>) =>
    withFollower(["--db", db, "--l2", node.url, "--source", source], async daemon => {
      await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
      await then();
      await waitForHash(daemon, chain.height, chain.hashOf(chain.height));
      assert.ok((await sendCommand(db, {kind: "finalize", to: chain.height})).ok);
      const touched = await readTouched(node, chain.height);
      for (let block = FIRST; block <= chain.height; block++)
        await compareEthProofs(daemon, node, touched, block);
    });
  const [[execute = "", executed = ""] = [], [trace = "", traced = ""] = []] = stores;
  await follow(execute, executed, () =>
    follow(trace, traced, async () => {
      await chain.reorganise(DEPTH, branchTraffic(2, DEPTH + 2, true));
    }),
  );
  for (const [, db] of stores) assert.deepEqual((await checkStore(db)).found, []);
});
