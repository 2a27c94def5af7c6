/** A disk takes no writes while a node is followed: it is named, what is held is served, and following goes on once it does. */
import assert from "node:assert/strict";
import {after, before} from "node:test";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {createLiveTest} from "../../support/chains/liveTest.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {readLog, waitForChain, withFollowerProcess} from "../../support/http/nodeFollower.ts";
import {type Daemon, runProofd, startDaemon} from "../../support/processes/daemon.ts";
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

/** Asks for proofs until `work` is done: each is answered. @returns how many came */
async function proveBeside(daemon: Daemon, work: Promise<void>): Promise<number> {
  let isDone = false;
  const ended = work.finally(() => {
    isDone = true;
  });
  let proofs = 0;
  for (; !isDone; proofs++) {
    const {result, error} = await daemon.call("chain_getProof", [`0x${"00".repeat(20)}`, [], "0x0"]);
    assert.ok(result !== undefined, JSON.stringify(error));
  }
  await ended;
  return proofs;
}

/** One store for all of it, so that a service starts and reads the chain once for each state of the disk. */
liveTest(
  "a disk that becomes read-only, then a full one, stops writing and no proof, and it goes on when it can write",
  async (live, t) => {
    const disk = await LoopDisk.create(folder.path);
    if (typeof disk === "string") return notRun(t, disk);
    const db = `${disk.path}/followed.db`;
    const flags = ["--db", db, "--l2", live.anvil.url, "--genesis", live.genesisPath, "--finalized", "0"];
    const under = disk.mounted();
    const refuseStart = async (mode: "rw" | "ro", reason: string): Promise<void> => {
      const start = ["serve", ...flags, "--port", "0"];
      const {code, stdout, stderr} = await runProofd(start, {under: disk.mounted(mode)});
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(
        stderr,
        new RegExp(`cannot be opened while its disk takes no writes: free space .*${reason}`, "i"),
      );
    };
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
          /"reason":"LevelDB says IO error: .*(Read-only file system|Input\/output error).*"nothing is written until/,
        );
        assert.match(text, /^the import has failed: .*IO error/);
        assert.equal(await daemon.readMetric("proofd_writes_stopped"), 1);
        await compareServed(daemon, live, latest);
      },
      {under},
    );
    await refuseStart("ro", "Read-only file system");
    const daemon = await startDaemon(flags, {under});
    let held = 0;
    try {
      await compareBlocks(daemon, live, await waitForChain(daemon, live));
      const pid = daemon.child.pid as number;
      await disk.fillFor(pid);
      assert.ok((await proveBeside(daemon, growUntilFailed(daemon, live))) > 0);
      assert.match((await readReadiness(daemon))[1], /no space left on device/i);
      assert.equal(await daemon.readMetric("proofd_writes_stopped"), 1);
      const latest = await daemon.readMetric(HEAD);
      await compareServed(daemon, live, latest);
      await disk.freeFor(pid);
      // The same process opens the store again.
      assert.ok((await proveBeside(daemon, waitUntilReady(daemon, live))) > 0);
      assert.equal(readLog(daemon, "the disk takes writes again").length, 1);
      assert.equal(await daemon.readMetric("proofd_writes_stopped"), 0);
      await disk.fillFor(pid);
      await growUntilFailed(daemon, live);
      held = await daemon.readMetric(HEAD);
      assert.ok(held > latest);
    } finally {
      await daemon.stop("SIGKILL");
    }
    await refuseStart("rw", "No space left on device");
    await disk.free();
    const check = ["check", "--db", db];
    const killed = await runProofd(check, {under});
    assert.equal(killed.code, 0, killed.stdout + killed.stderr);
    await withFollowerProcess(
      flags,
      async daemon => {
        assert.ok((await daemon.readMetric(HEAD)) >= held);
        await compareBlocks(daemon, live, await waitForChain(daemon, live));
      },
      {under},
    );
    const {code, stdout, stderr} = await runProofd(check, {under});
    assert.equal(code, 0, stdout + stderr);
  },
);
