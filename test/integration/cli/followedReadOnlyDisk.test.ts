/** A disk takes no writes while a node is followed: it is named, what is held is served, and following goes on once it does. */
import assert from "node:assert/strict";
import {after, before} from "node:test";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {waitForChain, withFollowerProcess} from "../../support/http/nodeFollower.ts";
import {type Daemon, runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {LoopDisk} from "../../support/stores/loopDisk.ts";

let folder: WorkFolder;
let chain: LiveChain | string;
before(async () => {
  folder = await WorkFolder.create();
  chain = await LiveChain.create(folder.path);
  if (chain instanceof LiveChain) await chain.grow(3);
});
after(async () => {
  if (chain instanceof LiveChain) await chain.stop();
  await folder.remove();
});

const liveTest = createLiveTest(() => chain);

const HEAD = 'proofd_head_block{which="latest"}';

async function growUntilFailed(daemon: Daemon, live: LiveChain): Promise<void> {
  while ((await daemon.readMetric('proofd_source_state{state="failed"}')) !== 1) await live.grow(1);
}

/** Waits until the disk is written again. The block whose write failed may be held before: LevelDB may have taken it. */
async function waitUntilReady(daemon: Daemon, live: LiveChain): Promise<void> {
  await daemon.until("readiness", async () => (await readReadiness(daemon))[0] === 200);
  await compareBlocks(daemon, live, await waitForChain(daemon, live));
}

/** Compares the blocks up to `latest` with the node, and asks a proof thread for a proof of the last one. */
async function compareServed(daemon: Daemon, live: LiveChain, latest: number): Promise<void> {
  await compareBlocks(daemon, live, latest);
  const {error} = await daemon.call("chain_getProof", [`0x${"00".repeat(20)}`, [], "0x0"]);
  assert.equal(error, undefined);
}

/** One store for all of it, so that a service starts and reads the chain once for each state of the disk. */
liveTest(
  "a disk that becomes read-only, then a full one, is named, what is held is served, and it goes on when it can write",
  async (live, t) => {
    const disk = await LoopDisk.create(folder.path);
    if (typeof disk === "string") return notRun(t, disk);
    const db = `${disk.path}/followed.db`;
    const flags = ["--db", db, "--l2", live.anvil.url, "--genesis", live.genesisPath, "--finalized", "0"];
    const under = disk.mounted();
    await withFollowerProcess(
      flags,
      async daemon => {
        const latest = await waitForChain(daemon, live);
        await disk.breakFor(daemon.child.pid as number);
        await live.grow(1);
        await waitForState(daemon, "failed");
        const [status, text] = await readReadiness(daemon);
        assert.equal(status, 503);
        // The disk's own words are in the log. A second attempt may have failed since.
        await daemon.waitForStderr(
          /"reason":"LevelDB says IO error: .*(Read-only file system|Input\/output error)/,
        );
        assert.match(text, /^the import has failed: .*IO error/);
        await compareServed(daemon, live, latest);
      },
      {under},
    );
    await withFollowerProcess(
      flags,
      async daemon => {
        const latest = await daemon.readMetric(HEAD);
        await waitForState(daemon, "failed");
        assert.match((await readReadiness(daemon))[1], /nothing is written until .*Read-only file system/);
        await compareServed(daemon, live, latest);
      },
      {under: disk.mounted("ro")},
    );
    await withFollowerProcess(
      flags,
      async daemon => {
        const latest = await waitForChain(daemon, live);
        await compareBlocks(daemon, live, latest);
        const pid = daemon.child.pid as number;
        await disk.fillFor(pid);
        await growUntilFailed(daemon, live);
        assert.match((await readReadiness(daemon))[1], /no space left on device/i);
        await compareServed(daemon, live, latest);
        await disk.freeFor(pid);
        // The same process opens the store again.
        await waitUntilReady(daemon, live);
        await disk.fillFor(pid);
        await growUntilFailed(daemon, live);
      },
      {under},
    );
    await withFollowerProcess(
      flags,
      async daemon => {
        const latest = await daemon.readMetric(HEAD);
        await waitForState(daemon, "failed");
        assert.match((await readReadiness(daemon))[1], /nothing is written until .*no space left on device/i);
        await compareServed(daemon, live, latest);
        await disk.freeFor(daemon.child.pid as number);
        await waitUntilReady(daemon, live);
      },
      {under},
    );
    const {code, stdout, stderr} = await runProofd(["check", "--db", db], {under});
    assert.equal(code, 0, stdout + stderr);
  },
);
