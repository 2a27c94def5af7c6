/** The bench that follows geth, on a short chain. */
import assert from "node:assert/strict";
import {readdir, stat} from "node:fs/promises";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {findNode} from "../support/processes/nodePrograms.ts";

const MAIN = fileURLToPath(new URL("../../bench/stages/main.js", import.meta.url));

let folder: WorkFolder;
before(async () => {
  folder = await WorkFolder.create();
});
after(() => folder.remove());

async function runBench(): Promise<void> {
  const args = [MAIN, "--only", "geth", "--geth", findNode("geth"), "--blocks", "3"];
  const {code, stdout, stderr} = await runChild(process.execPath, args, {
    cwd: folder.path,
    // proofd refuses variables that it does not know, such as those of tests.
    env: {PATH: process.env.PATH ?? ""},
  });
  assert.equal(code, 0, stderr);
  for (const [figure, unit] of [
    ["catching up", "blocks/s"],
    ["transactions, 100 a block", "per second"],
    ["CPU of the node", "ms a block"],
    ["block to proof, p99", "ms"],
  ])
    for (const source of ["execute", "trace"])
      assert.match(
        stdout,
        new RegExp(`^\\| geth +\\| ${source}: ${figure} +\\| +[\\d. ]*[1-9][\\d. ]* ${unit} `, "m"),
      );
}

test("catching up with geth and its new blocks are measured by execute and by trace, and its chain is made once", async () => {
  await runBench();
  const kept = (await readdir(folder.file("bench-data"))).filter(name => name.startsWith("geth-"));
  assert.equal(kept.length, 1, `${kept}`);
  assert.match(kept[0] as string, /^geth-1\.[^/]+-3-100-v\d+$/);
  const readTime = async () => (await stat(folder.file(`bench-data/${kept[0]}/genesis.json`))).mtimeMs;
  const madeMs = await readTime();
  await runBench();
  assert.equal(await readTime(), madeMs);
});
