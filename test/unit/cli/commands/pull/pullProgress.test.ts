/** What a pull shows of its progress, on a terminal and elsewhere. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {PullProgress} from "../../../../../cli/commands/pull/pullProgress.ts";

function createStream(isTTY: boolean) {
  const written: string[] = [];
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0;
  return {written, stream: {isTTY, columns: 120, write: write as NodeJS.WriteStream["write"]}};
}

test("a terminal gets a bar with rate and time left, ten times a second at most, and none is left behind", () => {
  const {written, stream} = createStream(true);
  let nowMs = 1000;
  const progress = new PullProgress(stream, () => nowMs);
  const leaves = (done: number) => ({done, total: 40_000, unit: "leaves"});
  progress.show("accounts", leaves(0), 0);
  for (nowMs = 1010; nowMs <= 2000; nowMs += 10) progress.show("accounts", leaves(10 * (nowMs - 1000)), 100);
  assert.equal(written.length, 11);
  assert.equal(
    written.at(-1),
    "\r\x1b[Kaccounts [#####---------------] 25 %, 3s left, 10 000 of 40 000 leaves, 10 000 rows/s",
  );
  stream.columns = 30;
  nowMs = 3000;
  progress.show("accounts", leaves(20_000), 0);
  assert.equal(written.at(-1), "\r\x1b[Kaccounts [##########----------");
  progress.close();
  assert.equal(written.at(-1), "\r\x1b[K");
});

test("elsewhere there is a line every three seconds, and the time left is that of the tree under way", () => {
  const {written, stream} = createStream(false);
  const part = (done: number) => ({done, total: 100, unit: "leaves"});
  let nowMs = 0;
  const progress = new PullProgress(stream, () => nowMs);
  for (nowMs = 500; nowMs <= 3000; nowMs += 500) progress.show("accounts", part(50), 50);
  progress.show("storage of 0x12", part(50), 1);
  nowMs = 6000;
  progress.show("storage of 0x12", part(75), 99);
  nowMs = 9000;
  progress.show("changes", undefined, 100);
  progress.close();
  assert.deepEqual(written, [
    "pull: accounts 50 %, 50 of 100 leaves, 100 rows/s\n",
    "pull: storage of 0x12 75 %, 3s left, 75 of 100 leaves, 67 rows/s\n",
    "pull: changes 500 rows, 56 rows/s\n",
  ]);
});
