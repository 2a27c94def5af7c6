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
  for (const [args, why] of [
    [[], "expected geth in PATH, in --geth FILE, or installed by: node dist/test/nodes/install.js"],
    [["--geth"], "expected a file after --geth"],
    [
      ["--geth", "/nonexistent"],
      "expected geth, but /nonexistent does not run as it: spawnSync /nonexistent ENOENT",
    ],
    [["--geth", process.execPath], `expected geth, but ${process.execPath} does not run as it: `],
  ] as const) {
    const {code, stdout, stderr} = await runNodes(...args);
    assert.deepEqual([code, stdout], [2, ""]);
    assert.ok(stderr.startsWith(`NOT RUN: ${why}`), stderr);
  }
});
