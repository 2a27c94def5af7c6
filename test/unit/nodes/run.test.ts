import assert from "node:assert/strict";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {runChild} from "../../support/processes/childProcesses.ts";

const RUN = fileURLToPath(new URL("../../nodes/run.js", import.meta.url));

/** On a machine with this PATH, and with nothing in the cache folder. */
function runNodes(...args: readonly string[]) {
  return runChild(process.execPath, [RUN, ...args], {
    env: {PATH: "/nonexistent", XDG_CACHE_HOME: "/nonexistent"},
  });
}

test("the tests beside real nodes are not run without geth, or with another program, and say why", async () => {
  for (const [args, expected, why] of [
    [[], 2, "expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js"],
    [["--geth"], 1, "expected a file after --geth"],
    [
      ["--geth", "/nonexistent"],
      1,
      "expected geth, but /nonexistent does not run as it: spawnSync /nonexistent ENOENT",
    ],
    [["--geth", process.execPath], 1, `expected geth, but ${process.execPath} does not run as it: `],
  ] as const) {
    const {code, stdout, stderr} = await runNodes(...args);
    assert.deepEqual([code, stdout], [expected, ""]);
    assert.ok(stderr.startsWith(`NOT RUN: ${why}`), stderr);
  }
});
