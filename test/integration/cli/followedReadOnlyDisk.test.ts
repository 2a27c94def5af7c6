/** The disk becomes read-only while a node is followed: it is named, the store stays whole, and it goes on once it can write. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness, waitForState} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {waitForChain, withFollower} from "../../support/http/nodeFollower.ts";
import {runProofd} from "../../support/processes/daemon.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {LoopDisk} from "../../support/stores/loopDisk.ts";

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

test("a disk that becomes read-only is named, what is held is served, and a restart goes on once it can write", async t => {
  const disk = await LoopDisk.create(folder.path);
  if (typeof disk === "string") return notRun(t, disk);
  const live = await LiveChain.create(folder.path);
  if (typeof live === "string") return notRun(t, live);
  t.after(() => live.stop());
  await live.grow(3);
  const db = `${disk.path}/followed.db`;
  const flags = ["--db", db, "--l2", live.anvil.url, "--genesis", live.genesisPath, "--finalized", "0"];
  const under = disk.mounted();
  await withFollower(
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
      assert.match(text, /^the import has failed: .*(IO error|a write to this store has failed before)/);
      await compareBlocks(daemon, live, latest);
    },
    {under},
  );
  const refused = await runProofd(["serve", "--port", "0", ...flags], {under: disk.mounted("ro")});
  assert.equal(refused.code, 1, refused.stderr);
  assert.match(refused.stderr, /^error: cannot open the store in .* cannot be written: EROFS: /m);
  await withFollower(
    flags,
    async daemon => {
      await compareBlocks(daemon, live, await waitForChain(daemon, live));
    },
    {under},
  );
  const {code, stdout, stderr} = await runProofd(["check", "--db", db], {under});
  assert.equal(code, 0, stdout + stderr);
});
