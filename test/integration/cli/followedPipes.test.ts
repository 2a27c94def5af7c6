/** A FIFO behind --diffs loses its writers and gets others; standard input ends. */
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {once} from "node:events";
import {createWriteStream} from "node:fs";
import {appendFile, rm, writeFile} from "node:fs/promises";
import {after, before, describe, test} from "node:test";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  linesOf,
  readReadiness,
  waitForChange,
  waitForHead,
  waitForState,
  withFollowing,
} from "../../support/http/followingDaemon.ts";
import type {Daemon} from "../../support/processes/daemon.ts";

describe("a pipe that is followed", () => {
  let folder: WorkFolder;
  let count = 0;

  before(async () => {
    folder = await WorkFolder.create();
  });
  after(() => folder.remove());

  async function withFifo(body: (daemon: Daemon, path: string) => Promise<void>): Promise<void> {
    const path = folder.file(`${count++}.fifo`);
    execFileSync("mkfifo", [path]);
    await withFollowing(`${path}.db`, path, daemon => body(daemon, path));
  }

  test("a FIFO whose writer goes away shows, and its next writer is read", () =>
    withFifo(async (daemon, path) => {
      await appendFile(path, linesOf(0, 1));
      await waitForHead(daemon, 1);
      await waitForState(daemon, "waiting");
      assert.match(daemon.stderr, /the writer of the source has gone/);
      // Writers that come at once after one another, one of them killed within a line.
      await appendFile(path, linesOf(0, 2));
      await appendFile(path, `${linesOf(3, 3)}{"number":"0x4",`);
      await waitForHead(daemon, 3);
      await waitForChange(daemon, "line_cut", 1);
      const writer = createWriteStream(path);
      for (const block of [4, 5, 6]) {
        writer.write(linesOf(block, block));
        await waitForHead(daemon, block);
      }
      await waitForState(daemon, "following");
      assert.equal(await daemon.readMetric("proofd_import_failed"), 0);
      await once(writer.end(), "close");
    }));

  test("a FIFO that is made anew is found, and so is a file in its place", () =>
    withFifo(async (daemon, path) => {
      await appendFile(path, linesOf(0, 0));
      await waitForHead(daemon, 0);
      await rm(path);
      execFileSync("mkfifo", [path]);
      await appendFile(path, linesOf(1, 1));
      await waitForHead(daemon, 1);
      await rm(path);
      await writeFile(path, linesOf(2, 2));
      await waitForHead(daemon, 2);
    }));

  test("a FIFO's writer that sends a gap is cut off, the next one is read", () =>
    withFifo(async (daemon, path) => {
      await appendFile(path, linesOf(0, 0) + linesOf(2, 2));
      await waitForState(daemon, "failed");
      assert.match((await readReadiness(daemon))[1], /block 2 does not follow: the next block is 1/);
      await appendFile(path, linesOf(1, 2));
      await waitForHead(daemon, 2);
      await waitForState(daemon, "following");
      assert.equal((await readReadiness(daemon))[0], 200);
    }));

  test("the end of standard input, and a failure of it, are final", async () => {
    await withFollowing(folder.file(`${count++}`), "-", async daemon => {
      daemon.child.stdin.write(linesOf(0, 1));
      await waitForHead(daemon, 1);
      await waitForState(daemon, "following");
      assert.equal((await readReadiness(daemon))[0], 200);
      daemon.child.stdin.end();
      await waitForState(daemon, "ended");
      assert.deepEqual(await readReadiness(daemon), [503, "the source of the import has ended\n"]);
      assert.match(daemon.stderr, /"level":40.*the import has ended/);
    });
    await withFollowing(folder.file(`${count++}`), "-", async daemon => {
      daemon.child.stdin.write(linesOf(0, 1) + linesOf(3, 3));
      await waitForState(daemon, "failed");
      assert.match(daemon.stderr, /"retryMs":null/);
      assert.equal((await readReadiness(daemon))[0], 503);
    });
  });
});
