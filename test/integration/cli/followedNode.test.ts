/** A layer-2 node is followed through reorganisations and restarts. The tests run in this order on one chain. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before} from "node:test";
import {sendCommand} from "../../../server/lifecycle/control/controlClient.ts";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import type {AskedService} from "../../support/http/askedService.ts";
import {readReadiness, waitForHead, waitForMetric, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks, compareState} from "../../support/http/liveComparison.ts";
import {readLog, waitForHash, withFollower as withService} from "../../support/http/nodeFollower.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {runHere} from "../../support/processes/ownCommand.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";
import {importHere} from "../../support/stores/importedStore.ts";
import {readStoredRoots} from "../../support/stores/storedRoots.ts";

const folder = new WorkFolder();
let chain: LiveChain | string;
let imported: string;
let count = 0;

before(async () => {
  imported = newStore();
  chain = await LiveChain.create(folder.path);
  if (chain instanceof LiveChain) await chain.grow(8);
});

after(async () => {
  if (chain instanceof LiveChain) await chain.stop();
});

function newStore(): string {
  return folder.file(`followed${count++}.db`);
}

function flagsOf(db: string, {anvil, genesisPath}: LiveChain): string[] {
  return ["--db", db, "--l2", anvil.url, "--genesis", genesisPath];
}

function withFollower(
  db: string,
  live: LiveChain,
  flags: readonly string[],
  body: (daemon: OwnService) => Promise<void>,
): Promise<void> {
  return withService([...flagsOf(db, live), ...flags], body);
}

async function waitForBlock(daemon: AskedService, live: LiveChain, number: number): Promise<void> {
  await waitForHash(daemon, number, (await live.block(number)).hash);
}

const liveTest = createLiveTest(() => chain);

liveTest(
  "a chain is followed from its genesis, every touched account and slot is the node's, and another chain below what is finalized stops it",
  live =>
    withFollower(newStore(), live, ["--finalized", "last"], async daemon => {
      const height = await live.height();
      await waitForHead(daemon, height);
      await waitForState(daemon, "following");
      const grown = await live.grow(4);
      await waitForHead(daemon, grown);
      await compareBlocks(daemon, live, grown);
      for (const block of [2, Math.floor(grown / 2), height, grown]) await compareState(daemon, live, block);
      assert.match(daemon.stderr, /"chosen":"execute","why":"the store is empty and --genesis is given"/);
      assert.match(
        daemon.stderr,
        /"method":"eth_getBlockByNumber","why":"the node refuses debug_getRawBlock/,
      );
      assert.equal(await daemon.readMetric('proofd_source_chosen{source="execute"}'), 1);
      assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
      const held = (await live.block(grown)).hash;
      await live.reorganise(1, 1);
      const theirs = (await live.block(grown)).hash;
      await waitForState(daemon, "failed");
      assert.deepEqual(await readReadiness(daemon), [
        503,
        `the import has failed: the node ${live.anvil.url} is on another chain: its block ${grown} is ${theirs}, ours is ${held} and is finalized\n`,
      ]);
      // What is held is served on.
      const {result} = await daemon.call("chain_getStateRoot", [`0x${grown.toString(16)}`]);
      assert.equal(result.hash, held);
    }),
);

liveTest("an import ends at --to, goes on from there, and ends at the node's head without it", async live => {
  const height = await live.height();
  const first = await runHere(["import", ...flagsOf(imported, live), "--to", "5"]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stdout,
    /^imported 6 blocks; the store has blocks 0 to 5, none is finalized; head: block 5, 0x/,
  );
  assert.ok(first.stdout.includes((await live.block(5)).hash));
  assert.match(
    first.stderr,
    /^import: blocks are read by execute: the store is empty and --genesis is given$/m,
  );
  // The store knows the forks by now.
  const second = await importHere(["--db", imported, "--l2", live.anvil.url]);
  assert.deepEqual([second.ok, second.head.latest], [true, height]);
});

liveTest(
  "a node's WebSocket announces new blocks, and none at the head is logged as progress",
  async live => {
    const socket = live.anvil.url.replace("http:", "ws:");
    await withService(["--db", imported, "--l2", `${live.anvil.url},${socket}`], async daemon => {
      await waitForBlock(daemon, live, await live.height());
      await daemon.waitForStderr(/"state":"subscribed"/);
      await waitForBlock(daemon, live, await live.grow(1));
      assert.deepEqual(readLog(daemon, "importing"), [], "nothing is behind");
    });
  },
);

liveTest(
  "traces give the roots of executed blocks, also of a chain with rules that cannot be executed",
  async live => {
    const genesis = JSON.parse(await readFile(live.genesisPath, "utf8"));
    const foreign = folder.file("foreign.json");
    const config = {...genesis.config, bogotaTime: 2 ** 40, optimism: {}};
    await writeFile(foreign, JSON.stringify({...genesis, config}));
    const db = newStore();
    const flags = ["--db", db, "--l2", live.anvil.url];
    await withService([...flags, "--genesis", foreign, "--source", "trace"], async daemon => {
      const height = await live.height();
      await waitForBlock(daemon, live, height);
      assert.deepEqual(await compareBlocks(daemon, live, height), await readStoredRoots(imported));
    });
    for (const genesis of [[], ["--genesis", foreign]]) {
      const outcome = await importHere([...flags, ...genesis, "--source", "execute"]);
      assert.ok(!outcome.ok);
      assert.match(
        outcome.message,
        /config\.(bogotaTime|optimism) .*cannot be executed here.* --source trace/,
      );
    }
    // Without --source too, and from a block 0 whose genesis file is not given again.
    const chosen = ["--db", newStore(), "--l2", live.anvil.url];
    assert.ok((await importHere([...chosen, "--genesis", foreign, "--to", "0"])).ok);
    await withService(chosen, async daemon => {
      await waitForBlock(daemon, live, await live.height());
      assert.match(
        daemon.stderr,
        /"chosen":"trace","why":"the node traces blocks \(prestate\); genesis: config\.bogotaTime is /,
      );
    });
    // A store of executed blocks is not traced on because of a fork that was added to its file.
    const executed = await importHere(["--db", imported, "--l2", live.anvil.url, "--genesis", foreign]);
    assert.match(executed.ok ? "" : executed.message, /config\.bogotaTime .*cannot be executed here/);
  },
);

// They are one service's, on the store that was imported, so that it need not execute all blocks again.
liveTest("what a service makes of a chain that changes", async (live, t) => {
  await withFollower(imported, live, [], async daemon => {
    await t.test(
      "a reorganisation is rolled back to the common ancestor, and the new branch is the node's",
      async () => {
        const forked = await live.reorganise(3, 2);
        await waitForBlock(daemon, live, forked);
        await waitForMetric(daemon, "proofd_source_reorganisations_total 1");
        assert.match(daemon.stderr, new RegExp(`"latest":${forked - 2},"ancestor":${forked - 5}`));
        await compareBlocks(daemon, live, forked);
        // Finalized now, so that it can be proved. The next test takes the two blocks after it back.
        const replaced = forked - 2;
        assert.ok((await sendCommand(imported, {kind: "finalize", to: replaced})).ok);
        await compareState(daemon, live, replaced);
      },
    );

    await t.test(
      "a chain that was cut short is waited for, and nothing is removed before another block comes",
      async () => {
        const height = await live.height();
        await live.cut(2);
        await waitForState(daemon, "waiting");
        assert.match(
          daemon.stderr,
          new RegExp(`newest block is ${height - 2}, block ${height} is in the store`),
        );
        assert.equal(await daemon.readMetric('proofd_head_block{which="latest"}'), height);
        await live.grow(3);
        await waitForBlock(daemon, live, height + 1);
        await compareBlocks(daemon, live, height + 1);
      },
    );

    await t.test("a node that stops is waited for, and followed on when it is back", async () => {
      await live.restart(() => waitForState(daemon, "waiting"));
      assert.match(daemon.stderr, /"state":"waiting","reason":"http:[^"]*connection (refused|was lost)/);
      const grown = await live.grow(2);
      await waitForBlock(daemon, live, grown);
      await waitForState(daemon, "following");
      await compareBlocks(daemon, live, grown);
      // A node that a test starts ends with the test.
      await live.stop();
    });
  });
  assert.deepEqual((await checkStore(imported)).found, []);
});
