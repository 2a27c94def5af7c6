/** A layer-2 node is followed: real anvils, the execute source, reorganisations, restarts and kill -9. */
import assert from "node:assert/strict";
import {mkdtemp} from "node:fs/promises";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForChange, waitForHead, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks, compareState} from "../../support/http/liveComparison.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";

/** Time between two looks at a service. */
const LOOK_MS = 20;
/** test/soakFollow.sh sets it. */
const KILLS = Number(process.env.FOLLOW_KILLS ?? 3);
const KILL_WITHIN_MS = 1000;

let folder: WorkFolder;
let chain: LiveChain | string;
let count = 0;

before(async () => {
  folder = await WorkFolder.create();
  chain = await LiveChain.create(folder.path);
  if (chain instanceof LiveChain) await chain.grow(12);
});

after(async () => {
  if (chain instanceof LiveChain) await chain.stop();
  await folder.remove();
});

function newStore(): string {
  return folder.file(`followed${count++}.db`);
}

function flagsOf(db: string, {anvil, genesisPath}: LiveChain): string[] {
  return ["--db", db, "--l2", anvil.url, "--genesis", genesisPath];
}

/** Runs `body` against a service that follows the chain, which it gives in the end. */
async function withFollower(
  db: string,
  live: LiveChain,
  flags: readonly string[],
  body: (daemon: Daemon, db: string) => Promise<void>,
): Promise<void> {
  const daemon = await startDaemon([...flagsOf(db, live), ...flags]);
  try {
    await body(daemon, db);
    assert.equal((await daemon.stop()).code, 0);
  } finally {
    daemon.child.kill("SIGKILL");
  }
}

/** Waits until the service holds the node's block at this number: after a reorganisation the number alone says nothing. */
async function waitForBlock(daemon: Daemon, live: LiveChain, number: number): Promise<void> {
  const {hash} = await live.block(number);
  const tag = `0x${number.toString(16)}`;
  while ((await daemon.call("chain_getStateRoot", [tag])).result?.hash !== hash) await pause(LOOK_MS);
}

const liveTest = createLiveTest(() => chain);

liveTest("a chain is followed from its genesis, and every touched account and slot is the node's", live =>
  withFollower(newStore(), live, ["--finalized", "last"], async daemon => {
    const height = await live.height();
    await waitForHead(daemon, height);
    await waitForState(daemon, "following");
    const grown = await live.grow(6);
    await waitForHead(daemon, grown);
    await compareBlocks(daemon, live, grown);
    for (const block of [2, Math.floor(grown / 2), height, grown]) await compareState(daemon, live, block);
    assert.match(daemon.stderr, /"chosen":"execute","why":"the store is empty and --genesis is given"/);
    assert.match(daemon.stderr, /"method":"eth_getBlockByNumber","why":"the node refuses debug_getRawBlock/);
    assert.equal(await daemon.readMetric('proofd_source_chosen{source="execute"}'), 1);
    assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
  }),
);

liveTest("a node's WebSocket announces new blocks", async live => {
  const socket = live.anvil.url.replace("http:", "ws:");
  const daemon = await startDaemon([
    ...["--db", newStore(), "--genesis", live.genesisPath],
    ...["--l2", `${live.anvil.url},${socket}`],
  ]);
  await waitForBlock(daemon, live, await live.height());
  await daemon.waitForStderr(/"state":"subscribed"/);
  await waitForBlock(daemon, live, await live.grow(1));
  assert.equal((await daemon.stop()).code, 0);
});

liveTest("an import ends at --to, goes on from there, and ends at the node's head without it", async live => {
  const db = newStore();
  const height = await live.height();
  const first = await runProofd(["import", ...flagsOf(db, live), "--to", "5"]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(
    first.stdout,
    /^imported 6 blocks; blocks 0 to 5 are held, none is finalized; head: block 5, 0x/,
  );
  assert.ok(first.stdout.includes((await live.block(5)).hash));
  assert.match(
    first.stderr,
    /^import: blocks are read by execute: the store is empty and --genesis is given$/m,
  );
  // The store knows the forks by now.
  const second = await runProofd(["import", "--db", db, "--l2", live.anvil.url]);
  assert.equal(second.code, 0, second.stderr);
  assert.ok(second.stdout.includes((await live.block(height)).hash), second.stdout);
});

liveTest("traces give the roots of executed blocks", async live => {
  const height = await live.height();
  const roots: string[][] = [];
  for (const source of ["execute", "trace"])
    await withFollower(newStore(), live, ["--source", source], async daemon => {
      await waitForBlock(daemon, live, height);
      roots.push(await compareBlocks(daemon, live, height));
    });
  assert.deepEqual(roots[0], roots[1]);
});

liveTest("a reorganisation is rolled back to the common ancestor, and the new branch is the node's", live =>
  withFollower(newStore(), live, [], async (daemon, db) => {
    await waitForBlock(daemon, live, await live.height());
    const forked = await live.reorganise(3, 2);
    await waitForBlock(daemon, live, forked);
    await waitForChange(daemon, "reorganised", 1);
    assert.match(
      daemon.stderr,
      new RegExp(`"change":"reorganised","latest":${forked - 2},"ancestor":${forked - 5}`),
    );
    await compareBlocks(daemon, live, forked);
    // Finalized now, so that it can be proved.
    const {code, stderr} = await runProofd(["finalize", "--db", db, "--to", `${forked}`]);
    assert.equal(code, 0, stderr);
    await compareState(daemon, live, forked);
  }),
);

liveTest(
  "a chain that was cut short is waited for, and nothing is removed before another block comes",
  live =>
    withFollower(newStore(), live, [], async daemon => {
      const height = await live.height();
      await waitForBlock(daemon, live, height);
      await live.cut(2);
      await waitForState(daemon, "following");
      assert.equal(await daemon.readMetric('proofd_head_block{which="latest"}'), height);
      await live.grow(3);
      await waitForBlock(daemon, live, height + 1);
      await compareBlocks(daemon, live, height + 1);
    }),
);

liveTest("a reorganisation below what is finalized stops following, with both hashes", async live => {
  const db = newStore();
  await withFollower(db, live, ["--finalized", "last"], async daemon => {
    const height = await live.height();
    const held = (await live.block(height)).hash;
    await waitForBlock(daemon, live, height);
    await live.reorganise(1, 1);
    const theirs = (await live.block(height)).hash;
    await waitForState(daemon, "failed");
    assert.deepEqual(await readReadiness(daemon), [
      503,
      `the import has failed: the node ${live.anvil.url} is on another chain: its block ${height} is ${theirs}, ours is ${held} and is finalized\n`,
    ]);
    // What is held is served on.
    const {result} = await daemon.call("chain_getStateRoot", [`0x${height.toString(16)}`]);
    assert.equal(result.hash, held);
  });
});

test("a node that stops is waited for, and followed on when it is back", async t => {
  // A node of its own: one that a test starts ends with the test.
  const live = await LiveChain.create(await mkdtemp(folder.file("stopped-")));
  if (typeof live === "string") {
    notRun(t, live);
    return;
  }
  await withFollower(newStore(), live, [], async daemon => {
    await waitForBlock(daemon, live, await live.height());
    await live.restart(() => waitForState(daemon, "waiting"));
    assert.match(daemon.stderr, /"state":"waiting","reason":"http:[^"]*connection refused/);
    const grown = await live.grow(2);
    await waitForBlock(daemon, live, grown);
    await waitForState(daemon, "following");
    await compareBlocks(daemon, live, grown);
  });
  await live.stop();
});

liveTest("a service that is killed at any moment goes on where it was, with the same roots", async live => {
  const db = newStore();
  for (let round = 0; round < KILLS; round++) {
    const daemon = await startDaemon(flagsOf(db, live));
    if (round % 2 === 1) await waitForBlock(daemon, live, (await live.height()) - 1);
    // Within the import of these blocks.
    const grown = live.grow(3);
    await pause(Math.random() * KILL_WITHIN_MS);
    daemon.child.kill("SIGKILL");
    await daemon.finished;
    await grown;
  }
  const other = newStore();
  const height = await live.height();
  const roots: string[][] = [];
  for (const store of [db, other])
    await withFollower(store, live, [], async daemon => {
      await waitForBlock(daemon, live, height);
      roots.push(await compareBlocks(daemon, live, height));
    });
  assert.deepEqual(roots[0], roots[1]);
  const checked = await runProofd(["check", "--db", db]);
  assert.equal(checked.code, 0, checked.stdout + checked.stderr);
});
