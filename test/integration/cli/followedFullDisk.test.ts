/** No file can grow while a node is followed: that is named, the store stays whole, and a restart without the limit goes on. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {LiveChain} from "../../support/chains/liveChain.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {readReadiness} from "../../support/http/followingDaemon.ts";
import {compareBlocks} from "../../support/http/liveComparison.ts";
import {readLog, waitForChain, withFollower, withFollowerProcess} from "../../support/http/nodeFollower.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {checkStore} from "../../support/stores/checkedStore.ts";

/** No file may have more than 64 KB, as on a disk that gets full. The units are 512 bytes. */
const LIMITED = ["sh", "-c", 'ulimit -f 128; exec "$@"', "sh"];

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

test("a write that the system refuses is named, what is held is served, and a restart goes on from there", async t => {
  const live = await LiveChain.create(folder.path);
  if (typeof live === "string") {
    notRun(t, live);
    return;
  }
  await live.grow(20);
  const db = folder.file("full.db");
  const flags = ["--db", db, "--l2", live.anvil.url, "--genesis", live.genesisPath, "--finalized", "0"];
  await withFollowerProcess(
    flags,
    async daemon => {
      await daemon.waitForStderr(/File too large/);
      const [status, text] = await readReadiness(daemon);
      assert.equal(status, 503);
      assert.match(text, /^the import has failed: .*File too large/);
      const latest = await daemon.readMetric('proofd_head_block{which="latest"}');
      await compareBlocks(daemon, live, latest);
      assert.equal(await daemon.readMetric("proofd_writes_stopped"), 1);
      assert.equal(readLog(daemon, "the import continues after a failure").length, 0);
    },
    {under: LIMITED},
  );
  await withFollower(flags, async daemon => {
    await compareBlocks(daemon, live, await waitForChain(daemon, live));
  });
  assert.deepEqual((await checkStore(db)).found, []);
  await live.stop();
});
