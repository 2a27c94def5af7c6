/** The thread that makes messages for a feed, where it cannot start and where it is closed. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {FeedThread} from "../../../workers/pool/feedThread.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {openOwned} from "../../support/stores/importedStore.ts";

const JOB = {chain: {suite: "sha256", chainId: 1337n}, block: 1};

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

test("a job whose thread cannot start is rejected, and does not wait", async () => {
  const exits: Error[] = [];
  const thread = new FeedThread({directory: folder.file("none"), cacheBytes: 1 << 20}, error =>
    exits.push(error),
  );
  await assert.rejects(thread.run(JOB), /holds no store|none/);
  await thread.close();
  assert.ok(exits.length > 0);
});

test("a thread that was closed starts again", async () => {
  const directory = await folder.importChain("db", 2, 2);
  const owner = await openOwned(directory);
  try {
    const thread = new FeedThread({directory, cacheBytes: 1 << 20}, assert.fail);
    const first = await thread.run(JOB);
    assert.ok("bodies" in first);
    await thread.close();
    assert.deepEqual(await thread.run(JOB), first);
    const unfinished = assert.rejects(thread.run({...JOB, block: 2}));
    await thread.close();
    await unfinished;
  } finally {
    await owner.close();
  }
});
