/** The built bench, run in a folder of its own on a small store. */
import assert from "node:assert/strict";
import {readdir, readFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import type {BenchRun} from "../../../../bench/stages/benchRun.ts";
import {type Finished, runChild} from "../../../support/processes/childProcesses.ts";
import {makeTemporaryFolder} from "../../../support/temporaryFolder.ts";

const MAIN = fileURLToPath(new URL("../../../../bench/stages/main.js", import.meta.url));
const SMALL = ["--accounts", "1k", "--blocks", "1", "--time", "1", "--runs", "2"];
const STAGES = "proof multiproof trie leaves changes verify estimate evm execute commit".split(" ");

const folder = makeTemporaryFolder();

function bench(...args: string[]): Promise<Finished> {
  return runChild(process.execPath, [MAIN, ...args], {cwd: folder});
}

test("every stage is measured, printed and written, and the next run is compared on the same store", async () => {
  const first = await bench(...SMALL, "--json", "first.json");
  assert.equal(first.code, 0, first.stderr);
  const run = JSON.parse(await readFile(join(folder, "first.json"), "utf8")) as BenchRun;
  assert.deepEqual([...new Set(run.results.map(({stage}) => stage))], STAGES);
  for (const {name, medianUs, p99Us, perSecond, yardsticks} of run.results) {
    assert.ok(medianUs > 0 && p99Us >= medianUs && perSecond > 0 && yardsticks > 0, name);
    assert.ok(first.stdout.includes(name), name);
  }
  assert.deepEqual(
    run.figures.map(({stage}) => stage),
    [
      ...Array(4).fill("multiproof"),
      "trie",
      "trie",
      ...Array(4).fill("leaves"),
      "changes",
      "changes",
      ...Array(3).fill("commit"),
    ],
  );
  const stores = await readdir(join(folder, "bench-data"));

  const second = await bench(...SMALL, "--only", "verify,evm", "--against", "first.json");
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /^against first\.json: .*commit /m);
  assert.match(second.stdout, /^\| verify +\| compact, runtime .*%.*%.*%/m);
  assert.match(second.stdout, /^\| evm +\| PUSH0 SLOAD POP .*%.*%.*%/m);
  assert.deepEqual((await readdir(join(folder, "bench-data"))).sort(), [...stores, "runs"].sort());
  const [written] = await readdir(join(folder, "bench-data", "runs"));
  assert.ok(second.stdout.includes(`written to ${join("bench-data", "runs", String(written))}`));
  // Not ./data: that is the service's, and the demo starts only where it is missing or empty.
  assert.deepEqual((await readdir(folder)).sort(), ["bench-data", "first.json"]);
});
