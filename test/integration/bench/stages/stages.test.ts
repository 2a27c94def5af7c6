/** The built bench, run in a folder of its own on a small store. */
import assert from "node:assert/strict";
import {mkdtemp, readdir, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import type {BenchRun} from "../../../../bench/stages/benchRun.ts";
import {type Finished, runChild} from "../../../support/processes/childProcesses.ts";
import {startDaemon} from "../../../support/processes/daemon.ts";

const MAIN = fileURLToPath(new URL("../../../../bench/stages/main.js", import.meta.url));
const SMALL = ["--accounts", "2k", "--blocks", "5", "--time", "20"];
const STAGES = ["hash", "page", "lookup", "path", "text", "proof", "worker", "estimate", "commit"];

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
    ["worker", "commit", "commit"],
  );
  const stores = await readdir(join(folder, "bench-data"));

  const second = await bench(...SMALL, "--only", "hash,commit", "--against", "first.json");
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /^against first\.json:$/m);
  assert.match(second.stdout, /^only before: sha256 page: /m);
  const changes = second.stdout.slice(second.stdout.indexOf("\nagainst"));
  assert.match(changes, /^\| hash +\| two nodes, 64 bytes .*%/m);
  assert.match(changes, /^\| commit +\| commit a block of 350 leaf writes .*%/m);
  assert.deepEqual((await readdir(join(folder, "bench-data"))).sort(), [...stores, "runs"].sort());
  const [written] = await readdir(join(folder, "bench-data", "runs"));
  assert.ok(second.stdout.includes(`written to ${join("bench-data", "runs", String(written))}`));
});

test("a bench does not touch the service's folder: the demo starts after it, in the same place", async () => {
  const {code, stderr} = await bench(...SMALL, "--only", "hash");
  assert.equal(code, 0, stderr);
  assert.ok(!(await readdir(folder)).includes("data"));
  const daemon = await startDaemon(["--demo"], {cwd: folder});
  try {
    assert.equal((await daemon.call("chain_getCoverage")).result.earliest, "0x0");
  } finally {
    await daemon.stop();
  }
});

test("bad flags are refused with exit code 2 before anything is made", async () => {
  const {code, stdout, stderr} = await bench("--accounts", "many");
  assert.deepEqual([code, stdout], [2, ""]);
  assert.match(
    stderr,
    /^error: option '--accounts <count>' argument 'many' is invalid\. Expected a whole number /,
  );
  const missing = await bench("--against", "missing.json");
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /^error: --against is 'missing\.json': expected the JSON of an earlier run /);
});
