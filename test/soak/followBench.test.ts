/** The bench that follows a chain, on a short one. */
import assert from "node:assert/strict";
import {mkdtemp, readFile, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {findAnvil} from "../../bench/served/anvil.ts";
import type {BenchRun} from "../../bench/stages/benchRun.ts";
import {NODE_SOURCES} from "../../workers/job/importSource.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {notRun} from "../support/processes/notRun.ts";

const MAIN = fileURLToPath(new URL("../../bench/stages/main.js", import.meta.url));

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-bench-"));
});
after(async () => {
  await rm(folder, {recursive: true});
});

test("following a chain is measured by each source, and how soon a block and its finality show", async t => {
  if (findAnvil() === undefined) {
    notRun(t, "anvil is not installed");
    return;
  }
  const args = [MAIN, "--only", "follow", "--blocks", "3", "--json", "follow.json"];
  const {code, stdout, stderr} = await runChild(process.execPath, args, {cwd: folder});
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
