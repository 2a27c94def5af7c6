/** The built bench, run in a folder of its own on a small store. */
import assert from "node:assert/strict";
import {mkdtemp, readdir, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {findAnvil} from "../../../../bench/served/anvil.ts";
import type {BenchRun} from "../../../../bench/stages/benchRun.ts";
import {NODE_SOURCES} from "../../../../workers/job/importSource.ts";
import {type Finished, runChild} from "../../../support/processes/childProcesses.ts";
import {notRun} from "../../../support/processes/notRun.ts";

const MAIN = fileURLToPath(new URL("../../../../bench/stages/main.js", import.meta.url));
const SMALL = ["--accounts", "1k", "--blocks", "1", "--time", "1", "--runs", "2"];
const STAGES = ["hash", "proof", "multiproof", "verify", "estimate", "commit"];

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-bench-"));
});
after(async () => {
  await rm(folder, {recursive: true});
});

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
    [...Array(8).fill("multiproof"), "commit", "commit"],
  );
  const stores = await readdir(join(folder, "bench-data"));

  const second = await bench(...SMALL, "--only", "hash,commit", "--against", "first.json");
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /^against first\.json: .*commit /m);
  assert.match(second.stdout, /^\| hash +\| two nodes, 64 bytes .*%.*%.*%/m);
  assert.match(second.stdout, /^\| commit +\| commit a block of 350 leaf writes .*%.*%.*%/m);
  assert.deepEqual((await readdir(join(folder, "bench-data"))).sort(), [...stores, "runs"].sort());
  const [written] = await readdir(join(folder, "bench-data", "runs"));
  assert.ok(second.stdout.includes(`written to ${join("bench-data", "runs", String(written))}`));
  // Not ./data: that is the service's, and the demo starts only where it is missing or empty.
  assert.deepEqual((await readdir(folder)).sort(), ["bench-data", "first.json"]);
});

test("following a chain is measured by each source, and how soon a block and its finality show", async t => {
  if (findAnvil() === undefined) {
    notRun(t, "anvil is not installed");
    return;
  }
  const {code, stdout, stderr} = await bench("--only", "follow", "--blocks", "3", "--json", "follow.json");
  assert.equal(code, 0, stderr);
  for (const source of NODE_SOURCES)
    assert.match(
      stdout,
      new RegExp(`^\\| follow +\\| ${source}: catching up +\\| +[\\d. ]+ blocks/s \\|`, "m"),
    );
  assert.match(stdout, /^\| follow +\| block of the node to its proof, p99 +\| +[\d. ]+ ms \|/m);
  assert.match(stdout, /^\| follow +\| event of layer 1 to the proof, p99 +\| +[\d.]+ polls \|/m);
  const {figures, results} = JSON.parse(await readFile(join(folder, "follow.json"), "utf8")) as BenchRun;
  assert.deepEqual(results, []);
  assert.equal(figures.length, 4 + 5 * NODE_SOURCES.length);
  for (const {stage, name, value, unit} of figures) {
    assert.equal(stage, "follow");
    // CPU time is counted in steps of 10 ms, and a poll may come with the event.
    assert.ok(/blocks\/s|per second/.test(unit) ? value > 0 : value >= 0, `${name}: ${value}`);
  }
});
