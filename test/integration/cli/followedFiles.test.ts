/** A file behind --diffs is rotated, truncated, taken away or wrong: it is gone on with, or it shows. */
import assert from "node:assert/strict";
import {appendFile, rename, rm, truncate, writeFile} from "node:fs/promises";
import {after, before, describe, test} from "node:test";
import {pino} from "pino";
import type {Piscina} from "piscina";
import {SourceStatus} from "../../../server/observe/sourceStatus.ts";
import {createFollowedFile} from "../../../service/following/followedFile.ts";
import {Following} from "../../../service/following/following.ts";
import {ProofPool} from "../../../workers/engine.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {createLine, hashOfBlock, WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  linesOf,
  readReadiness,
  waitForChange,
  waitForHead,
  waitForMetric,
  waitForState,
  withFollowing,
} from "../../support/http/followingDaemon.ts";
import type {Daemon} from "../../support/processes/daemon.ts";

describe("a file that is followed", () => {
  let folder: WorkFolder;
  let count = 0;

  before(async () => {
    folder = await WorkFolder.create();
  });
  after(() => folder.remove());

  /** Runs `body` against a service that has imported `text` from a new file. */
  async function withFile(
    text: string,
    head: number,
    body: (daemon: Daemon, path: string) => Promise<void>,
  ): Promise<void> {
    const path = folder.file(`${count++}.ndjson`);
    await writeFile(path, text);
    await withFollowing(`${path}.db`, path, async daemon => {
      await waitForHead(daemon, head);
      await body(daemon, path);
    });
  }

  test("a file that is renamed is read to its end, then the one in its place from its start", () =>
    withFile(linesOf(0, 1), 1, async (daemon, path) => {
      await rename(path, `${path}.1`);
      // Its writer has it open still, also when the other one is there already.
      await appendFile(`${path}.1`, linesOf(2, 2));
      await writeFile(path, "");
      await waitForHead(daemon, 2);
      await appendFile(`${path}.1`, linesOf(3, 3));
      await appendFile(path, linesOf(4, 5));
      await waitForHead(daemon, 5);
      await waitForState(daemon, "following");
      await waitForChange(daemon, "replaced", 1);
      assert.match(daemon.stderr, /another file has replaced the source/);
      assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
      assert.equal(await daemon.readMetric("proofd_import_retries_total"), 0);
    }));

  test("a file that is copied and truncated is read from its start again", () =>
    withFile(linesOf(0, 2), 2, async (daemon, path) => {
      await waitForState(daemon, "following");
      await truncate(path);
      await waitForChange(daemon, "truncated", 1);
      await appendFile(path, linesOf(2, 3));
      await waitForHead(daemon, 3);
      assert.match(daemon.stderr, /the source became shorter/);
      assert.equal(await daemon.readMetric("proofd_import_failed"), 0);
    }));

  test("a file that is gone for a while shows, and is gone on with when it is back", () =>
    withFile(linesOf(0, 0), 0, async (daemon, path) => {
      await rm(path);
      await waitForState(daemon, "waiting");
      assert.match(daemon.stderr, /"level":40.*waiting for the source/);
      await writeFile(path, linesOf(0, 1));
      await waitForHead(daemon, 1);
      await waitForState(daemon, "following");
    }));

  test("a line that a rotated file ends within is dropped, and taken from the next file", () =>
    withFile(`${linesOf(0, 1)}{"number":"0x2",`, 1, async (daemon, path) => {
      await rename(path, `${path}.1`);
      await writeFile(path, linesOf(2, 3));
      await waitForHead(daemon, 3);
      await waitForChange(daemon, "line_cut", 1);
      assert.match(daemon.stderr, /"line":3,.*ended in the middle of a line/);
    }));

  const fork: DifferenceLine = {...createLine(1, 1), hash: hashOfBlock(99)};
  for (const [what, wrong, reason] of [
    ["a gap", linesOf(3, 3), "line 3: block 3 does not follow: the next block is 2"],
    [
      "a fork",
      encodeLines([fork]),
      `line 3: block 1 has hash ${hashOfBlock(99)}, but ${hashOfBlock(1)} is held`,
    ],
    ["a line that is no JSON", "block 2\n", 'line 3: "b" where an object: "{" is expected'],
  ] as const)
    test(`${what} shows until the file is mended`, () =>
      withFile(linesOf(0, 1) + wrong, 1, async (daemon, path) => {
        await waitForState(daemon, "failed");
        assert.deepEqual(await readReadiness(daemon), [503, `the import has failed: ${reason}\n`]);
        assert.equal(await daemon.readMetric("proofd_import_failed"), 1);
        // What is held is served on.
        assert.ok((await daemon.call("chain_getProof", [`0x${"00".repeat(20)}`, [], "latest"])).result);
        await writeFile(path, linesOf(0, 2));
        await waitForHead(daemon, 2);
        await waitForState(daemon, "following");
        assert.deepEqual(await readReadiness(daemon), [200, "ready\n"]);
        assert.equal(await daemon.readMetric("proofd_import_failed"), 0);
        assert.match(daemon.stderr, /the import continues after a failure/);
      }));

  test("a failure is logged once, however often it is tried again", () =>
    withFile(linesOf(0, 1) + linesOf(3, 3), 1, async daemon => {
      await waitForMetric(daemon, "proofd_import_retries_total 2");
      assert.equal(daemon.stderr.split("the import failed").length, 2);
    }));

  test("a truncated file that lost lines is a gap", () =>
    withFile(linesOf(0, 2), 2, async (daemon, path) => {
      await waitForState(daemon, "following");
      await truncate(path);
      await waitForChange(daemon, "truncated", 1);
      await appendFile(path, linesOf(4, 4));
      await waitForState(daemon, "failed");
      assert.match((await readReadiness(daemon))[1], /block 4 does not follow: the next block is 3/);
    }));

  test("an import whose thread dies is tried again", async () => {
    const directory = folder.file("thread");
    const path = folder.file("thread.ndjson");
    await writeFile(path, linesOf(0, 1));
    const pool = await ProofPool.open({directory, workers: 0, cacheBytes: 1 << 20, createIfMissing: true});
    const status = new SourceStatus("diffs");
    const following = new Following(pool, createFollowedFile(path), {}, status, pino({level: "silent"}));
    while (status.state !== "following") await new Promise(setImmediate);
    // The threads are the pool's own business; only a test may kill one.
    const {imports} = pool as unknown as {imports: {piscina: Piscina}};
    for (const thread of imports.piscina.threads) await thread.terminate();
    while (status.state === "following") await new Promise(setImmediate);
    assert.match(status.reason, /^the import thread died: /);
    await appendFile(path, linesOf(2, 2));
    while (pool.chain.head().latest !== 2) await new Promise(setImmediate);
    assert.deepEqual([status.retries, status.reason], [1, ""]);
    following.stop();
    await pool.close();
  });
});
