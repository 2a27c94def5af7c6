/** What tests start: in whatever way a test ends, it ends too, and the run fails. */
import assert from "node:assert/strict";
import {describe, test} from "node:test";
import {fileURLToPath} from "node:url";
import {type Finished, runChild} from "../../../support/processes/childProcesses.ts";
import {waitUntil} from "../../../support/wait.ts";

const RUN = fileURLToPath(new URL("../../../run.js", import.meta.url));
const LEAVING_TESTS = fileURLToPath(new URL("../../../support/processes/leavingTests.js", import.meta.url));

/** With the message that names what was left; a process that is killed itself says nothing in time. */
const WAYS: readonly (readonly [string, RegExp | null])[] = [
  ["a failing test", /"fails" left: /],
  ["a passing test", /"passes" left: /],
  ["a hook that throws", /a hook left: /],
  ["a test that takes too long", /"hangs" left: /],
  ["a test that exits", null],
  ["a test that is killed", null],
  ["an error that nobody catches", /uncaughtException in a test: Error: as it must/],
];

function runLeaving(way: string, ...options: string[]): Promise<Finished> {
  const env = {PATH: process.env.PATH ?? "", LEAVES: way};
  return runChild(process.execPath, [RUN, ...options, LEAVING_TESTS], {env});
}

/** @returns the process that the test started and the one that this started; none where the time was too short */
function startedBy({stdout}: Finished): number[] {
  return /started (\d+) (\d+)/.exec(stdout)?.slice(1).map(Number) ?? [];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function assertEnd(pids: readonly number[]): Promise<void> {
  for (const pid of pids) await waitUntil(`the end of process ${pid}`, () => !isRunning(pid));
}

// Each waits for the ends of processes most of its time.
describe("test files that leave processes", {concurrency: true}, () => {
  for (const [way, message] of WAYS)
    test(`${way} leaves no process, and the run fails`, async () => {
      const finished = await runLeaving(way);
      assert.equal(finished.code, 1);
      if (message !== null) assert.match(finished.stdout, message);
      assert.doesNotMatch(finished.stderr, /left running by the tests/);
      await assertEnd(startedBy(finished));
    });
});

test("a test file that hangs is ended by the time-out of the run, with what it started", async () => {
  for (let timeoutMs = 1000; ; timeoutMs *= 2) {
    const finished = await runLeaving("a test that hangs", `--timeout=${timeoutMs}`);
    assert.equal(finished.code, 1);
    assert.match(finished.stdout, new RegExp(`timed out after ${timeoutMs} ms`));
    const pids = startedBy(finished);
    if (pids.length === 0) continue; // too early
    await assertEnd(pids);
    return;
  }
});
